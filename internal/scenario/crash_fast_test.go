//go:build !slow

package scenario

import "testing"

const crashCycles = 3

// crashProgram is this test program itself.
func crashProgram(testing.TB) []string { return nil }
