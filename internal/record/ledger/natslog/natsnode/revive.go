package natsnode

import (
	"path/filepath"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/reserve"
)

// A server that cannot write stops JetStream, as on a full disk, and leaves it so: the node would have no replica any more, and its cluster no node to spare, until
// somebody started it again. So that is done here, when there is space.

const (
	reviveEvery = time.Second // between two looks
	reviveFree  = 64 << 20    // bytes
	reviveLog   = time.Minute // between two reports that it fails
)

// keepAlive starts JetStream again where it has stopped, until the node stops.
func (n *Node) keepAlive() {
	defer close(n.kept)
	revive(n.stopping, func() bool {
		return n.server.JetStreamEnabled() || n.server.JetStreamConfig() != nil // which it still has while it stops
	}, func() error {
		if free, err := reserve.Free(filepath.Join(n.options.StoreDir, storeDir)); err == nil && free < reviveFree {
			return nil // it has logged why it stopped
		}
		return n.server.ReloadOptions(n.options.Clone()) // a server that reads the same configuration again starts what has stopped
	}, func(err error) { n.log.Errorf("the replicas of this node do not start again: %v", err) })
}

// revive starts what does not run until stopping is closed, and reports when that fails: at once, and then each minute.
func revive(stopping <-chan struct{}, runs func() bool, start func() error, failed func(error)) {
	tick := time.NewTicker(reviveEvery)
	defer tick.Stop()
	var reported time.Time
	for looks := 0; ; {
		select {
		case <-stopping:
			return
		case <-tick.C:
		}
		if looks++; runs() {
			looks, reported = 0, time.Time{}
		}
		if looks < 2 { // when it has none any more, it has nearly stopped
			continue
		}
		if err := start(); err != nil && (reported.IsZero() || time.Since(reported) >= reviveLog) {
			reported = time.Now()
			failed(err)
		}
	}
}
