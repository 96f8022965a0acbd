//go:build slow && !race

package scenario

import "testing"

const (
	crashCycles = 30
	stopCycles  = 3
)

// crashProgram is the real one.
func crashProgram(t testing.TB) []string { return buildProgram(t) }
