//go:build outside

package scenario

import (
	"context"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
)

// TestOwnershipIsLinearizableInJetStream has three nodes on three front ends, each at another server, whose leader is deposed again and again.
func TestOwnershipIsLinearizableInJetStream(t *testing.T) {
	s := natstest.Start(t, 3)
	openShared = func(t *testing.T) ledger.Ledger {
		var logs []ledger.Ledger
		for node := range 3 {
			l, err := natslog.Open(t.Context(), s.Connect(t, node), natslog.Options{Synced: true})
			if err != nil {
				t.Fatal(err)
			}
			logs = append(logs, l)
		}
		return ledgertest.FrontEnds(logs...)
	}
	c := enter(t, shared, 1, bug{})
	defer c.harness.stop()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() { ended <- deposeLeaders(ctx, t, s) }()
	c.fight(1+*seedFlag, contestOperations/5)
	cancel()
	n := <-ended
	c.judged(n)
}

// deposeLeaders has the leader of the stream step down, every now and then, until ctx ends. It returns how often.
func deposeLeaders(ctx context.Context, t *testing.T, s *natstest.Cluster) (n int) {
	conn := s.Connect(t, 0)
	tick := time.NewTicker(time.Second / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return n
		case <-tick.C:
		}
		if _, err := conn.RequestWithContext(ctx, "$JS.API.STREAM.LEADER.STEPDOWN.TRAPEZE", nil); err == nil {
			n++
		}
	}
}
