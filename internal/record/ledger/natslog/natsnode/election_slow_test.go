//go:build slow

package natsnode

import (
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
)

// It is where nats-server reads its variables: a release that renames one, or has them somewhere else, fails here.
//
//go:linkname randElectionTimeout github.com/nats-io/nats-server/v2/server.randElectionTimeout
func randElectionTimeout() time.Duration

// The lease of a leader must have ended before another can be elected.
func TestNobodyIsElectedSoonerThanALeaseEndsNorMuchLater(t *testing.T) {
	for range 1000 {
		if d := randElectionTimeout(); d < natslog.MinElection || d >= 2*natslog.MinElection {
			t.Fatalf("an election after %s, want %s to %s", d, natslog.MinElection, 2*natslog.MinElection)
		}
	}
}

// theirs are the values before this package sets them. A variable that nats-server does not have would be one of this package, and zero.
var theirs = map[string]time.Duration{
	"minElectionTimeout": minElectionTimeout, "maxElectionTimeout": maxElectionTimeout, "hbInterval": hbInterval, "lostQuorumInterval": lostQuorumInterval,
	"lostQuorumCheck": lostQuorumCheck,
}

func TestTheVariablesThatAreSetAreThoseOfNATS(t *testing.T) {
	for name, d := range theirs {
		if d == 0 {
			t.Errorf("nats-server has no %s", name)
		}
	}
}
