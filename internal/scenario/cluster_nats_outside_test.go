//go:build outside

package scenario

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natsnode"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
	"github.com/trapezehq/trapeze/internal/server"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
)

// nodeNames are those of three nodes.
var nodeNames = []string{"n0", "n1", "n2"}

// leaderDoubt is how long a leader of before may answer looks after a pause.
const leaderDoubt = 3 * time.Second

// newNodes returns servers in processes of their own, each a node of one cluster. place says where they are; nil: on the loopback.
func newNodes(t testing.TB, dirs, addrs []string, place func(i int, r *rig, o *natsnode.Options)) (rigs []*rig) {
	t.Helper()
	for i := range addrs {
		r := newRig(t, dirs[i], modeServe)
		options := natsnode.Options{Cluster: "test", Name: fmt.Sprint("n", i), Addr: addrs[i], Join: addrs, Secret: natstest.Secret}
		if place != nil {
			place(i, r, &options)
		}
		options.Join = options.Join[:len(nodeNames)] // one more comes later
		o, err := json.Marshal(options)
		if err != nil {
			t.Fatal(err)
		}
		r.env = []string{childNode + "=" + string(o)}
		rigs = append(rigs, r)
	}
	return rigs
}

// nodesAtWork starts servers, each with clients of its own, which work until the test ends them.
func (c *campaign) nodesAtWork(rigs []*rig) (crews []*crew, stop func(), waits []func()) {
	c.Helper()
	var ready []<-chan readiness
	for _, r := range rigs[1:] {
		ready = append(ready, r.launch()) // they wait for a majority
	}
	c.doubts.last = leaderDoubt
	crews = c.crewsOf(rigs, len(crewNames), 1) // the nodes, their replicas and the clients share a few processors
	for i, r := range rigs[1:] {
		r.release(r.await(ready[i]))
	}
	stop, waits = c.beginWork(crews)
	return crews, stop, waits
}

// recordOfNode is where programs of this machine find the record of a node that runs.
func (c *campaign) recordOfNode(r *rig) server.Place {
	c.Helper()
	place, runs := sharedrecord.Running(filepath.Join(r.dir, "jetstream"))
	if !runs {
		c.Fatal("the node does not say how programs of the machine reach it")
	}
	if r.reach != nil {
		u, err := url.Parse(place.NATS.URL)
		if err != nil {
			c.Fatal(err)
		}
		u.Host = r.reach(u.Host)
		place.NATS.URL = u.String()
	}
	return place
}

// replicasAgree compares the replicas of some nodes, entry by entry.
func (c *campaign) replicasAgree(at server.Place, nodes []string, entries int) {
	c.Helper()
	if len(nodes) == 0 {
		return
	}
	conn, err := natslog.Connect(at.NATS.URL)
	if err != nil {
		c.Fatal(err)
	}
	defer conn.Close()
	if all := natstest.Agree(c, conn, natslog.DefaultName, nodes...); all < entries { // an alert may have been raised since
		c.Errorf("each node has %d messages, and %d entries were read before", all, entries)
	}
}

// Three nodes have a record in JetStream, and the clock of one is off. Each is killed under load, then two of them, and one is paused: what was acknowledged by any is true at the end.
func TestNothingAcknowledgedIsLostWhenNodesOfJetStreamAreKilled(t *testing.T) {
	t.Parallel() // it mostly waits
	c := newClusterCampaign(t)
	dirs, disks := c.newDisks(3)
	rigs := newNodes(c, dirs, freeaddr.New(t, 3), nil)
	rigs[1].env = append(rigs[1].env, childAhead+"=5m")
	crews, stop, waits := c.nodesAtWork(rigs)
	for range *faultsFlag {
		c.killsNodes(rigs, crews, disks)
		c.full("full disk of a node", disks[1], rigs, crews, 1, 12)
		c.complete(rigs)
		c.happened("pause of a node", c.paused(rigs, crews, 0, 12))
		c.atWork(rigs, crews, 12)
	}
	stop()
	c.concluded(rigs, crews, waits, c.recordOfNode(rigs[0]), nodeNames...)
	if c.report.cut == 0 {
		c.Error("too easy: no call was cut off")
	}
}

// complete waits until all nodes have their replicas again: without those of one, the cluster has no node to spare for the next fault.
func (c *campaign) complete(rigs []*rig) {
	c.Helper()
	until(c.T, "all replicas are complete", func() bool {
		k, err := c.cluster(rigs[0])
		return err == nil && complete(k, len(rigs))
	})
}

// cluster is what a server says of the cluster.
func (c *campaign) cluster(r *rig) (admin.Cluster, error) {
	url, _ := r.wait()
	cl := r.client(url, r.token)
	defer cl.Close()
	return admin.New(cl).ShowCluster(c.Context())
}

// killsNodes kills the leader, and then two nodes, and takes the power from another, and then from all.
func (c *campaign) killsNodes(rigs []*rig, crews []*crew, disks []*disk) {
	c.Helper()
	leader := 0
	for n, what := range []string{"kill of the leader", "loss of power of another node", "kill of two nodes", "loss of power of all nodes"} {
		c.atWork(rigs, crews, 12)
		if n == 0 {
			leader = c.leader(rigs)
		}
		victims := [][]int{{leader}, {(leader + 1) % 3}, {leader, (leader + 2) % 3}, {0, 1, 2}}[n]
		c.Logf("%s: %s: %v", time.Now().Format(time.TimeOnly), what, victims)
		for _, victim := range victims {
			if n%2 == 1 {
				disks[victim].off()
			}
			rigs[victim].kill()
		}
		if len(victims) == 1 { // the others are a majority, and go on
			c.happened(what, c.atWork(allBut(rigs, victims[0]), allBut(crews, victims[0]), 12))
		}
		for _, victim := range victims {
			rigs[victim].gathered(len(crews[victim].actors))
		}
		var ready []<-chan readiness
		for _, victim := range victims {
			if n%2 == 1 {
				disks[victim].on()
			}
			ready = append(ready, rigs[victim].launch())
		}
		for i, victim := range victims {
			rigs[victim].release(rigs[victim].await(ready[i]))
		}
		if len(victims) > 1 {
			c.happened(what+", when they run again", c.atWork(rigs, crews, 12))
		}
	}
}

// leader is the server whose node leads the record.
func (c *campaign) leader(rigs []*rig) (leader int) {
	c.Helper()
	until(c.T, "a node leads the record", func() bool {
		k, err := c.cluster(rigs[0])
		if err != nil {
			return false
		}
		leader = -1
		for _, g := range k.Groups {
			if g.Name == natslog.DefaultName && g.Leader != "" {
				leader = slices.IndexFunc(rigs, func(r *rig) bool { return strings.Contains(r.env[0], `"Name":"`+g.Leader+`"`) })
			}
		}
		return leader >= 0
	})
	return leader
}
