//go:build !slow || race

package scenario

import "testing"

// crashProgram is this test program itself.
func crashProgram(testing.TB) []string { return nil }
