//go:build slow

package backup_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
)

// Each changed bit and each cut is noticed, unless it changes nothing that is restored, such as the padding of the archive.
func TestNoChangeOfABackupIsRestored(t *testing.T) {
	o := newOrigin(t, ledgertest.Faults{})
	o.fill(t, 12)
	whole := o.write(t, nil)
	refused, harmless := 0, 0
	check := func(what string, b []byte) {
		t.Helper()
		c, err := restore(t.Context(), o.keys, b)
		switch {
		case err != nil:
			refused++
		case o.same(t, c):
			harmless++
		default:
			t.Fatalf("%s is restored", what)
		}
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1 << (i % 8)
		check(fmt.Sprintf("a flipped bit of byte %d of %d", i, len(whole)), b)
	}
	for n := 0; n < len(whole); n += 37 {
		check(fmt.Sprintf("the first %d bytes of %d", n, len(whole)), whole[:n])
	}
	if refused == 0 || harmless > refused {
		t.Errorf("%d changes are refused, %d harmless", refused, harmless)
	}
}
