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
)

// keepAlive starts JetStream again where it has stopped, until the node stops.
func (n *Node) keepAlive() {
	tick := time.NewTicker(reviveEvery)
	defer tick.Stop()
	for looks := 0; ; {
		select {
		case <-n.stopping:
			return
		case <-tick.C:
		}
		if looks++; n.server.JetStreamEnabled() || n.server.JetStreamConfig() != nil { // which it still has while it stops
			looks = 0
		}
		if looks < 2 { // when it has none any more, it has nearly stopped
			continue
		}
		if free, err := reserve.Free(filepath.Join(n.options.StoreDir, storeDir)); err == nil && free < reviveFree {
			continue // it has logged why it stopped
		}
		if err := n.server.ReloadOptions(n.options.Clone()); err != nil { // a server that reads the same configuration again starts what has stopped
			n.log.Errorf("the replicas of this node do not start again: %v", err)
		}
	}
}
