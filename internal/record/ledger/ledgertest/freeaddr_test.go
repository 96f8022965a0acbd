package ledgertest_test

import (
	"net"
	"runtime"
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
)

func TestNewReturnsDifferentAddressesThatAServerCanListenAt(t *testing.T) {
	list := freeaddr.New(t, 50)
	slices.Sort(list)
	if n := len(slices.Compact(slices.Clone(list))); n != 50 {
		t.Errorf("%d different addresses, not 50", n)
	}
	for _, addr := range list {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
	}
}

func TestNewReturnsNoAddressThatAnotherTestHas(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing is reserved here")
	}
	seen := map[string]bool{}
	for range 10 {
		for _, addr := range freeaddr.New(t, 50) {
			if seen[addr] {
				t.Fatal(addr, "is given twice")
			}
			seen[addr] = true
		}
	}
}
