//go:build slow || outside

package scenario

import (
	"testing"
	"time"
)

// randomSeed is the seed of the flag, or one by the clock; it is logged.
func randomSeed(t testing.TB) uint64 {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano()) //nolint:gosec // any number does
	}
	t.Logf("-seed %d", seed)
	return seed
}
