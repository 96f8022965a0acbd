package mcpapi_test

import (
	"sync"
)

// told remembers which resources a client was told have changed.
type told struct {
	mu   sync.Mutex
	uris []string
}
