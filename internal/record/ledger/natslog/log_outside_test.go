//go:build outside

package natslog_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
)

var names atomic.Int64

// newName returns the name of a stream that no other test of this process uses.
func newName() string { return fmt.Sprintf("TEST%d", names.Add(1)) }

func open(t testing.TB, c *natstest.Cluster, node int, opts natslog.Options) *natslog.Log {
	t.Helper()
	opts.Synced = true // as the servers of natstest do
	l, err := natslog.Open(t.Context(), c.Connect(t, node), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestLogPassesTheSuite(t *testing.T) {
	c := natstest.Start(t, 3)
	ledgertest.Run(t, func(t *testing.T) ledger.Ledger {
		return open(t, c, 0, natslog.Options{Name: newName()})
	})
}

func TestLogIsDurable(t *testing.T) {
	c := natstest.Start(t, 3)
	places := map[string]string{}
	ledgertest.RunDurable(t, func(t *testing.T, place string) ledger.Ledger {
		if places[place] == "" {
			places[place] = newName()
		}
		return open(t, c, len(place), natslog.Options{Name: places[place]})
	})
}

// One of the front ends does not hear what the others append, and looks by itself.
func TestFrontEndsOnOneClusterPassTheSuite(t *testing.T) {
	c := natstest.Start(t, 3)
	ledgertest.Run(t, func(t *testing.T) ledger.Ledger {
		o := natslog.Options{Name: newName()}
		return ledgertest.FrontEnds(open(t, c, 0, o), open(t, c, 1, o), open(t, c, 2, natslog.Deaf(natslog.Options{Name: o.Name, Poll: 20 * time.Millisecond})))
	})
}

func TestEntriesArePreparedForFollowers(t *testing.T) {
	c := natstest.Start(t, 3)
	ledgertest.RunPrepares(t, func(t *testing.T, prepare func(*ledger.Entry)) ledger.Ledger {
		return open(t, c, 1, natslog.Options{Name: newName(), Prepare: prepare})
	})
}
