package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
)

func TestANodeSaysWhatItWaitsFor(t *testing.T) {
	filling := fmt.Errorf("natslog: %w", natslog.ErrFilling)
	for _, c := range []struct {
		to    purpose
		cause error
		want  string
		not   string
	}{
		{toUse, ledger.ErrNoMajority, "all of them when the cluster starts for the first time", "restore"},
		{toUse, filling, "until trapeze restore has ended", "start"},
		{toFill, ledger.ErrNoMajority, "start all of them with trapeze serve", "calls are answered"},
	} {
		if got := waitsFor(c.to, c.cause); !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("%v, %v: %q", c.to, c.cause, got)
		}
	}
}
