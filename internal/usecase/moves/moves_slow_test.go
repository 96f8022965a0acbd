//go:build slow

package moves_test

import "testing"

// step is the distance of the bytes of a file that are changed.
const step = 1

// TestAnImportThatIsInterruptedAnywhereGoesOn has the ledger fail after each number of entries in turn.
func TestAnImportThatIsInterruptedAnywhereGoesOn(t *testing.T) {
	a := open(t, "a")
	token, task := a.furnish()
	file := a.file()
	n := 0
	for interrupt(t, a, file, token, task, n) {
		n++
	}
	t.Logf("%d interruptions", n)
}
