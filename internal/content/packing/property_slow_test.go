//go:build slow

package packing_test

import "testing"

func TestAHundredThousandEnvelopesStayInTheirBudgets(t *testing.T) {
	check(t, 100_000, packsExactly)
}
