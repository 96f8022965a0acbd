package natsnode

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Two things take long in nats-server that need not. Replicas wait for a leader whose process has died as long as for one that is late. And a replica that was cut off while it
// led takes back what no majority has one entry at a time, each time it asks for the rest: the answer to what it asks in between goes astray, and it waits for more than two seconds.
// Until it has the rest, the loss of another node stops the cluster.

const (
	watchEvery = 100 * time.Millisecond
	goneFor    = time.Second            // how long it is looked whether a node that is not heard any more has died
	lookEvery  = 300 * time.Millisecond // as connections may end a moment before it listens no more
	dialFor    = 300 * time.Millisecond // for one look
	stillFor   = 300 * time.Millisecond // for the answer to a replica that takes entries back
)

// group is what a replica knows of its group.
type group struct {
	leader   string // name of the node; empty: none, or it is not known
	last     uint64 // entry of its log
	catching bool   // it waits for what it lacks
}

// watch is what a node sees of the others and of its replicas, and does about it.
type watch struct {
	hears    func() []string
	groups   func() map[string]group
	died     func(heard int) bool // all nodes that are not heard
	stand    func(group string)
	askAgain func(group string)

	heard  []string
	gone   map[string]time.Time // since when nodes are not heard that were
	looked time.Time            // whether they have died
	behind map[string]behind
}

// behind is how far a replica is with taking back entries.
type behind struct {
	last  uint64
	back  bool      // it has taken back some
	since time.Time // it is as far as that
}

// run looks until stopping is closed.
func (w *watch) run(stopping <-chan struct{}) {
	w.gone, w.behind = map[string]time.Time{}, map[string]behind{}
	for tick := time.NewTicker(watchEvery); ; {
		select {
		case <-stopping:
			tick.Stop()
			return
		case <-tick.C:
			groups := w.groups()
			w.dead(groups)
			w.stuck(groups)
		}
	}
}

// dead has this node stand for election where a node led that has died.
func (w *watch) dead(groups map[string]group) {
	now, heard := time.Now(), w.hears()
	for _, name := range w.heard {
		if !slices.Contains(heard, name) {
			w.gone[name], w.looked = now, time.Time{}
		}
	}
	w.heard = heard
	for name, since := range w.gone {
		if slices.Contains(heard, name) || now.Sub(since) > goneFor {
			delete(w.gone, name)
		}
	}
	if len(w.gone) == 0 || now.Sub(w.looked) < lookEvery {
		return
	}
	w.looked = now
	if !w.died(len(heard)) {
		return
	}
	for id, g := range groups {
		if _, is := w.gone[g.leader]; is {
			w.stand(id)
		}
	}
	clear(w.gone)
}

// stuck has replicas ask again that take back entries, and get no answer.
func (w *watch) stuck(groups map[string]group) {
	for id, g := range groups {
		b := w.behind[id]
		switch {
		case g.last < b.last:
			b = behind{last: g.last, back: true, since: time.Now()}
		case g.last > b.last || !g.catching:
			b = behind{last: g.last}
		case b.back && time.Since(b.since) >= stillFor:
			b.since = time.Now()
			w.askAgain(id)
		}
		w.behind[id] = b
	}
}

// replicas returns the groups of the record and of the cluster itself, of which this node has replicas.
func (n *Node) replicas() map[string]group {
	all := map[string]group{}
	for _, account := range []string{systemAccount, server.DEFAULT_GLOBAL_ACCOUNT} {
		status := n.server.Raftz(&server.RaftzOptions{AccountFilter: account})
		if status == nil {
			continue
		}
		for id, g := range (*status)[account] {
			all[id] = group{leader: g.Peers[g.Leader].Name, last: g.PIndex, catching: g.CatchingUp}
		}
	}
	return all
}

// allDied reports whether nothing listens at the addresses of all nodes but those that are heard. A node that is cut off does not refuse connections, and one that has only lost them takes
// new ones.
func (o Options) allDied(heard int) bool {
	var wait sync.WaitGroup
	answers := make([]error, len(o.Join))
	for i, addr := range o.Join {
		wait.Go(func() { answers[i] = o.dial(addr) })
	}
	wait.Wait()
	refused, took := 0, 0
	for _, err := range answers {
		switch {
		case errors.Is(err, errItself):
		case err == nil:
			took++
		case errors.Is(err, syscall.ECONNREFUSED):
			refused++
		default:
			return false
		}
	}
	return refused > 0 && took <= heard
}

// errItself is for the address of this node.
var errItself = errors.New("this node")

// dial makes a connection to the address of a node, and ends it.
func (o Options) dial(addr string) error {
	host, port, err := split(addr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialFor)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	from, _, _ := net.SplitHostPort(c.LocalAddr().String())
	to, _, _ := net.SplitHostPort(c.RemoteAddr().String())
	if _, own, err := split(o.Addr); err == nil && from == to && port == own {
		return errItself
	}
	return nil
}
