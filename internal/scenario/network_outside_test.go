//go:build outside

package scenario

import (
	"context"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/link"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/netns"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natsnode"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
	"github.com/trapezehq/trapeze/internal/server"
	"github.com/trapezehq/trapeze/internal/server/certificate/certtest"
)

// The network between nodes, or to the database, is broken while clients are at work: who can still reach the record goes on, and when the network is whole
// again all do. What was acknowledged is true at the end.

// trouble is a fault of the network. It lasts until the servers that can still reach the record have had some changes acknowledged.
type trouble struct {
	name  string
	begin func(victim int)
	all   bool                                  // the victim goes on, too
	again func(victim int) (next time.Duration) // called again and again while it lasts; nil: never
}

var held = link.Way{Held: true}

// far is a network of 200 ms for a question and its answer, in which one part in twenty is lost.
var far = link.Way{Delay: 100 * time.Millisecond, Lost: 0.05}

const brokenShare = 0.05

// flap is how long a link that comes and goes stays as it is: mostly too short to be noticed, and sometimes longer than an election takes.
func (c *campaign) flap() time.Duration {
	return time.Duration(100+c.rng.IntN(900)+c.rng.IntN(2)*c.rng.IntN(2500)) * time.Millisecond
}

// troubles are the faults of a network.
func (c *campaign) troubles(of network) []trouble {
	cut, sends, hears := false, of.Sends, of.Hears
	return []trouble{
		{name: "a server is cut off", begin: func(one int) { sends(one, held); hears(one, held) }},
		{name: "a server is not heard", begin: func(one int) { sends(one, held) }},
		{name: "a server hears nothing", begin: func(one int) { hears(one, held) }},
		{name: "the links of a server come and go", begin: func(int) {}, again: func(one int) time.Duration {
			if cut = !cut; cut {
				sends(one, held)
				hears(one, held)
			} else {
				c.doubts.add()
				sends(one, link.Way{})
				hears(one, link.Way{})
			}
			return c.flap()
		}},
		{name: "200 ms, 5 % lost, 5 % of the connections broken each second", all: true, begin: func(int) { of.All(far) }, again: func(int) time.Duration {
			of.Reset(brokenShare)
			return time.Second
		}},
	}
}

// troubled has each fault of the network happen to a server under load.
func (c *campaign) troubled(rigs []*rig, crews []*crew, network network, victim func() int, more int64) {
	c.Helper()
	for _, f := range c.troubles(network) {
		c.atWork(rigs, crews, more)
		one := victim()
		c.Logf("%s: %s: %d", time.Now().Format(time.TimeOnly), f.name, one)
		f.begin(one)
		enough, lasts := c.repeats(f, one)
		if f.all {
			c.happened(f.name, c.atWork(rigs, crews, more/5)) // each takes a second
		} else {
			c.happened(f.name, c.atWork(allBut(rigs, one), allBut(crews, one), more))
		}
		<-enough
		lasts()
		c.doubts.add()
		network.All(link.Way{})
		c.happened(f.name+", when it has ended", c.atWork(rigs, crews, more))
	}
}

// leastRepeats is how often at least a link goes or comes before the fault ends.
const leastRepeats = 4

// repeats calls what a fault does again and again, until it is ended.
func (c *campaign) repeats(f trouble, victim int) (enough chan struct{}, end func()) {
	enough = make(chan struct{})
	if f.again == nil {
		close(enough)
		return enough, func() {}
	}
	ctx, stop := context.WithCancel(c.Context())
	var one sync.WaitGroup
	one.Go(func() {
		for n := 1; ctx.Err() == nil; n++ {
			select {
			case <-time.After(f.again(victim)):
			case <-ctx.Done():
			}
			if n == leastRepeats {
				close(enough)
			}
		}
	})
	return enough, func() { stop(); one.Wait() }
}

// network is one whose ways can be broken.
type network interface {
	Sends(one int, w link.Way)
	Hears(one int, w link.Way)
	All(w link.Way)
	Reset(share float64) int
}

// nodesApart returns nodes of a cluster that reach each other through a network alone: each in a network namespace of its own, where this user may have those, and
// otherwise through links between programs of one machine. In namespaces they need certificates, as on machines of their own.
func (c *campaign) nodesApart(size int) ([]*rig, network) {
	c.Helper()
	dirs := make([]string, size)
	for i := range dirs {
		dirs[i] = c.TempDir()
	}
	spaces, err := netns.New(c, size)
	if err != nil {
		c.Log("the network is of links between programs, not of namespaces: ", err)
		addrs := freeaddr.New(c, size)
		links := link.NewNetwork(c, addrs...)
		return newNodes(c, dirs, addrs, func(i int, _ *rig, o *natsnode.Options) { o.Join, o.Advertise = links.Addrs(i), link.Nowhere }), links
	}
	ca := certtest.NewCA(c)
	addrs := make([]string, size)
	for i := range addrs {
		addrs[i] = net.JoinHostPort(spaces.Host(i), strconv.Itoa(natsnode.DefaultPort))
	}
	return newNodes(c, dirs, addrs, func(i int, r *rig, o *natsnode.Options) {
		pair := ca.Issue(spaces.Host(i))
		o.Secret, o.Cert, o.Key, o.CA = "", pair.Cert, pair.Key, ca.File
		r.within(spaces, i)
	}), spaces
}

// within puts a server into a namespace.
func (r *rig) within(spaces *netns.Network, i int) {
	r.wrap, r.reach = spaces.Wrap(i), func(addr string) string { return spaces.Reach(i, addr) }
}

// frontsApart starts a database, and returns front ends that reach it through a network alone, as [campaign.nodesApart] does, and where this program finds the record.
func (c *campaign) frontsApart(size int) (rigs []*rig, between network, at server.Place) {
	c.Helper()
	for range size {
		rigs = append(rigs, newRig(c, c.TempDir(), c.mode))
	}
	spaces, err := netns.New(c, size+1)
	if err != nil {
		c.Log("the network is of links between programs, not of namespaces: ", err)
		db := pgtest.Start(c)
		var links linksTo
		for _, r := range rigs {
			l := link.New(c, db.Addr())
			r.env, links = []string{childPostgres + "=" + db.URLAt(l.Addr())}, append(links, l)
		}
		return rigs, links, server.Place{Postgres: db.URL()}
	}
	host, ca := spaces.Host(size), certtest.NewCA(c)
	pair := ca.Issue(host, "127.0.0.1")
	db := pgtest.StartOn(c, pgtest.Site{Host: host, Cert: pair.Cert, Key: pair.Key, CA: ca.File, Enter: func() error { return spaces.Enter(size) }})
	for i, r := range rigs {
		r.env = []string{childPostgres + "=" + db.URL()}
		r.within(spaces, i)
	}
	return rigs, spaces, server.Place{Postgres: db.URLAt(spaces.Reach(size, db.Addr()))}
}

// linksTo is a network of links to one program.
type linksTo []*link.Link

func (n linksTo) Sends(one int, w link.Way) { n[one].SetThere(w) }
func (n linksTo) Hears(one int, w link.Way) { n[one].SetBack(w) }

func (n linksTo) All(w link.Way) {
	for one := range n {
		n.Sends(one, w)
		n.Hears(one, w)
	}
}

func (n linksTo) Reset(share float64) (broken int) {
	for _, l := range n {
		broken += l.Reset(share)
	}
	return broken
}

func TestNothingAcknowledgedIsLostWhenTheNetworkOfJetStreamIsBroken(t *testing.T) {
	t.Parallel() // it mostly waits
	c := newClusterCampaign(t)
	rigs, network := c.nodesApart(3)
	crews, stop, waits := c.nodesAtWork(rigs)
	leads := func() int { return c.leader(rigs) } // the hardest case
	for range *faultsFlag {
		c.troubled(rigs, crews, network, leads, 10)
	}
	stop()
	c.concluded(rigs, crews, waits, c.recordOfNode(rigs[0]), nodeNames...)
}

func TestNothingAcknowledgedIsLostWhenTheNetworkOfPostgreSQLIsBroken(t *testing.T) {
	t.Parallel() // it mostly waits
	c := newClusterCampaign(t)
	rigs, network, at := c.frontsApart(2)
	crews, stop, waits := c.frontsAtWork(rigs)
	for range *faultsFlag {
		c.troubled(rigs, crews, network, func() int { return c.rng.IntN(2) }, 50)
	}
	stop()
	c.concluded(rigs, crews, waits, at)
}
