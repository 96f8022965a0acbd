//go:build !unix

package scenario

import (
	"testing"
	"time"
)

// processor is not known here.
func processor(testing.TB) time.Duration { return 0 }
