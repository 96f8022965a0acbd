package natstest

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/link"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natsnode"
)

// Secret is that of the nodes.
const Secret = "a secret for tests alone"

// Cluster is a cluster inside the process.
type Cluster struct {
	t       testing.TB
	Nodes   []*natsnode.Node
	Network *link.Network // through which the nodes reach each other; nil: they do so directly
	options []natsnode.Options
}

// Start starts a cluster of so many servers, and stops it after the test.
func Start(t testing.TB, size int) *Cluster {
	t.Helper()
	return start(t, size, false)
}

// StartLinked starts a cluster like [Start], whose network can be broken.
func StartLinked(t testing.TB, size int) *Cluster {
	t.Helper()
	return start(t, size, true)
}

func start(t testing.TB, size int, linked bool) *Cluster {
	t.Helper()
	addrs := freeaddr.New(t, size)
	c := &Cluster{t: t, Nodes: make([]*natsnode.Node, size)}
	if linked {
		c.Network = link.NewNetwork(t, addrs...)
	}
	dir := t.TempDir()
	for i := range size {
		o := natsnode.Options{Cluster: "test", Name: fmt.Sprint("n", i), Dir: filepath.Join(dir, fmt.Sprint(i)), Addr: addrs[i], Join: addrs, Secret: Secret}
		if linked {
			o.Join, o.Advertise = c.Network.Addrs(i), link.Nowhere
		}
		c.options = append(c.options, o)
	}
	t.Cleanup(func() {
		var all sync.WaitGroup
		for i := range c.Nodes {
			all.Go(func() { c.Stop(i) })
		}
		all.Wait()
	})
	var all sync.WaitGroup
	for i := range size {
		all.Go(func() { c.Run(i) })
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return c
}

// Run starts a node, for the first time or after [Cluster.Stop].
func (c *Cluster) Run(node int) {
	c.t.Helper()
	if err := c.TryRun(node); err != nil {
		c.t.Error(err)
	}
}

// TryRun is [Cluster.Run] of a node that may not start.
func (c *Cluster) TryRun(node int) error {
	n, err := natsnode.Start(c.options[node])
	if err == nil {
		c.Nodes[node] = n
	}
	return err
}

// Stop stops a node, if it runs.
func (c *Cluster) Stop(node int) {
	if n := c.Nodes[node]; n != nil {
		_ = n.Stop(context.WithoutCancel(c.t.Context()))
		c.Nodes[node] = nil
	}
}

// Dir is the directory of the replicas of a node.
func (c *Cluster) Dir(node int) string { return c.options[node].Dir }

// Connect returns a connection to one of the servers, and closes it after the test.
func (c *Cluster) Connect(t testing.TB, node int) *nats.Conn {
	t.Helper()
	conn, err := c.Nodes[node%len(c.Nodes)].Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}
