//go:build outside

package natsnode_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
	"github.com/trapezehq/trapeze/internal/record/replica"
)

// Where JetStream stops while the server goes on, as on a full disk, the log at that node goes on by the replicas of the others, and its own is kept again soon.
func TestAReplicaThatStopsIsKeptAgain(t *testing.T) {
	c := natstest.Start(t, 3)
	conn := c.Connect(t, 2)
	l, err := natslog.Open(t.Context(), conn, natslog.Options{Synced: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	n := 0
	more := func() {
		t.Helper()
		for range 10 {
			n++
			if _, err := l.Append(t.Context(), ledgertest.NewEntry(ledger.Stream(fmt.Sprint("w/task/", n)), 1, "x"), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	more()
	if err := c.Nodes[2].StopJetStream(); err != nil {
		t.Fatal(err)
	}
	more()
	until(t, "that all replicas are current", func() bool {
		groups, err := natslog.Groups(t.Context(), conn, l.Name())
		return err == nil && len(groups) == 1 && len(groups[0].Peers) == 3 && !slices.ContainsFunc(groups[0].Peers, func(p replica.Peer) bool { return !p.Current || p.Lag > 0 })
	})
	more()
	if all := natstest.Agree(t, conn, l.Name(), "n0", "n1", "n2"); all != n {
		t.Errorf("each node has %d messages, and not %d", all, n)
	}
}
