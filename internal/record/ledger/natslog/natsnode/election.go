package natsnode

import (
	"reflect"
	"sync"
	"time"
	"unsafe" // for go:linkname, too

	"github.com/nats-io/nats-server/v2/server"

	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
)

// Variables of nats-server, which has no options for them. By its own values, elections after four to nine seconds and a heartbeat of one, a
// cluster whose leader dies takes no change for up to ten seconds, and one whose leader hears nobody for more than twenty.
//
//go:linkname minElectionTimeout github.com/nats-io/nats-server/v2/server.minElectionTimeout
//go:linkname maxElectionTimeout github.com/nats-io/nats-server/v2/server.maxElectionTimeout
//go:linkname hbInterval github.com/nats-io/nats-server/v2/server.hbInterval
//go:linkname lostQuorumInterval github.com/nats-io/nats-server/v2/server.lostQuorumInterval
//go:linkname lostQuorumCheck github.com/nats-io/nats-server/v2/server.lostQuorumCheck
var minElectionTimeout, maxElectionTimeout, hbInterval, lostQuorumInterval, lostQuorumCheck time.Duration

// The least is four missed heartbeats, as in nats-server. A leader that has heard of no majority for five steps down: its heartbeats may be all that keeps the others
// from an election, and what it still writes to its log has to be taken back.
func init() {
	minElectionTimeout, maxElectionTimeout, hbInterval = natslog.MinElection, natslog.MinElection*3/2, natslog.MinElection/4
	lostQuorumInterval, lostQuorumCheck = 5*hbInterval, hbInterval
}

// Functions of nats-server that it does not export.
//
//go:linkname lookupRaftNode github.com/nats-io/nats-server/v2/server.(*Server).lookupRaftNode
func lookupRaftNode(s *server.Server, group string) server.RaftNode

// Its receiver is locked, and is a pointer to a type that has no name here.
//
//go:linkname cancelCatchup github.com/nats-io/nats-server/v2/server.(*raft).cancelCatchup
func cancelCatchup(replica unsafe.Pointer)

// stand has the node stand for election in a group, within a second.
func (n *Node) stand(group string) {
	if r := lookupRaftNode(n.server, group); r != nil {
		_ = r.Campaign() // it leads already
	}
}

// askAgain has the replica of a group ask its leader once more for what it lacks, when that is next heard.
func (n *Node) askAgain(group string) {
	r := lookupRaftNode(n.server, group)
	lock, ok := r.(sync.Locker)
	if !ok {
		return
	}
	lock.Lock()
	defer lock.Unlock()
	cancelCatchup(reflect.ValueOf(r).UnsafePointer())
}
