//go:build slow || outside

package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natsnode"
)

func TestANodeSaysWhatItWaitsFor(t *testing.T) {
	nobody := errors.New("nobody answers")
	filling := fmt.Errorf("natslog: %w", natsnode.ErrFilling)
	for _, c := range []struct {
		to    purpose
		cause error
		want  string
		not   string
	}{
		{toUse, nobody, "all of them when the cluster starts for the first time", "restore"},
		{toUse, filling, "until trapeze restore has ended", "start"},
		{toFill, nobody, "start all of them with trapeze serve", "calls are answered"},
	} {
		if got := waitsFor(c.to, c.cause); !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("%v, %v: %q", c.to, c.cause, got)
		}
	}
}
