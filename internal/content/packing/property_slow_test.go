//go:build slow && !race

package packing_test

import (
	"fmt"
	"runtime/debug"
	"testing"

	"pgregory.net/rapid"
)

func TestAHundredThousandEnvelopesStayInTheirBudgets(t *testing.T) {
	inParts(t, 100_000, packsExactly)
}

func TestFiveThousandEnvelopesKeepWithALargerBudgetWhatASmallerOneKept(t *testing.T) {
	inParts(t, 5_000, nests)
}

// inParts checks a property so many times, on two processors.
func inParts(t *testing.T, n int, property func(*rapid.T)) {
	was := debug.SetGCPercent(400) // nothing stays in memory, so most collections are for nothing
	t.Cleanup(func() { debug.SetGCPercent(was) })
	times(t, n/2)
	for i := range 2 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, property)
		})
	}
}
