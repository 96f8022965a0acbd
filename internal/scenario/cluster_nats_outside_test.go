//go:build outside

package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natsnode"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
)

// newNodes returns servers in processes of their own, each a node of one cluster.
func (c *campaign) newNodes(n int) (rigs []*rig) {
	c.Helper()
	addrs := freeaddr.New(c, n)
	for i := range n {
		r := newRig(c, c.TempDir(), c.mode)
		o, err := json.Marshal(natsnode.Options{Cluster: "test", Name: fmt.Sprint("n", i), Addr: addrs[i], Join: addrs, Secret: natstest.Secret})
		if err != nil {
			c.Fatal(err)
		}
		r.env = []string{childNode + "=" + string(o)}
		rigs = append(rigs, r)
	}
	return rigs
}

// Three nodes have a record in JetStream, and the clock of one is off. Each is killed under load, then two of them, and one is paused: what was acknowledged by any is true at the end.
func TestNothingAcknowledgedIsLostWhenNodesOfJetStreamAreKilled(t *testing.T) {
	c := newCampaign(t, modeServe)
	rigs := c.newNodes(3)
	rigs[1].env = append(rigs[1].env, childAhead+"=5m")
	second, third := rigs[1].launch(), rigs[2].launch() // they wait for a majority
	first := c.hire(rigs[0])
	first.actors = append(first.actors[:len(first.agents)], first.actors[len(first.actors)-1]) // the nodes, their replicas and the clients share a few processors
	crews := []*crew{first, c.colleagues(first, rigs[1], 1), c.colleagues(first, rigs[2], 2)}
	rigs[1].release(rigs[1].await(second))
	rigs[2].release(rigs[2].await(third))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var waits []func()
	for _, one := range crews {
		waits = append(waits, one.work(ctx))
	}
	for _, victims := range [][]int{{0}, {1}, {2}, {0, 2}} {
		c.atWork(rigs, crews, 30)
		t.Logf("%s: kill %v", time.Now().Format(time.TimeOnly), victims)
		for _, victim := range victims {
			rigs[victim].kill()
		}
		for _, victim := range victims {
			rigs[victim].gathered(len(crews[victim].actors))
		}
		if len(victims) == 1 { // the others are a majority, and go on
			for i := range rigs {
				if i != victims[0] {
					c.atWork(rigs[i:i+1], crews[i:i+1], 30)
				}
			}
		}
		var ready []<-chan readiness
		for _, victim := range victims {
			ready = append(ready, rigs[victim].launch())
		}
		for i, victim := range victims {
			rigs[victim].release(rigs[victim].await(ready[i]))
		}
	}
	c.paused(rigs, crews, 0, 30)
	c.atWork(rigs, crews, 30)
	stop()
	at, runs := sharedrecord.Running(filepath.Join(rigs[0].dir, "jetstream"))
	if !runs {
		t.Fatal("the node does not say how programs of the machine reach it")
	}
	c.concluded(rigs, crews, waits, at)
}
