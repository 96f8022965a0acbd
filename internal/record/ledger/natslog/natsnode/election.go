package natsnode

import (
	"time"
	_ "unsafe" // for go:linkname

	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
)

// Variables of nats-server, which has no options for them. By its own values, elections after four to nine seconds and a heartbeat of one, a
// cluster whose leader dies takes no change for up to ten seconds.
//
//go:linkname minElectionTimeout github.com/nats-io/nats-server/v2/server.minElectionTimeout
//go:linkname maxElectionTimeout github.com/nats-io/nats-server/v2/server.maxElectionTimeout
//go:linkname hbInterval github.com/nats-io/nats-server/v2/server.hbInterval
var minElectionTimeout, maxElectionTimeout, hbInterval time.Duration

// The least is four missed heartbeats, as in nats-server.
func init() {
	minElectionTimeout, maxElectionTimeout, hbInterval = natslog.MinElection, natslog.MinElection*3/2, natslog.MinElection/4
}
