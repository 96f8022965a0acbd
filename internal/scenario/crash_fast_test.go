//go:build !slow

package scenario

import "testing"

const (
	crashCycles = 2
	stopCycles  = 1
)

// crashProgram is this test program itself.
func crashProgram(testing.TB) []string { return nil }
