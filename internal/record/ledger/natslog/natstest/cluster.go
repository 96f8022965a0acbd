package natstest

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natsnode"
)

// Secret is that of the nodes.
const Secret = "a secret for tests alone"

// Cluster is a cluster inside the process.
type Cluster struct {
	t     testing.TB
	Nodes []*natsnode.Node
}

// Start starts a cluster of so many servers, and stops it after the test.
func Start(t testing.TB, size int) *Cluster {
	t.Helper()
	addrs := freeaddr.New(t, size)
	c := &Cluster{t: t, Nodes: make([]*natsnode.Node, size)}
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range size {
		all.Go(func() {
			n, err := natsnode.Start(natsnode.Options{
				Cluster: "test", Name: fmt.Sprint("n", i), Dir: filepath.Join(dir, fmt.Sprint(i)), Addr: addrs[i], Join: addrs, Secret: Secret,
			})
			if err != nil {
				t.Error(err)
				return
			}
			c.Nodes[i] = n
		})
	}
	all.Wait()
	t.Cleanup(func() {
		var all sync.WaitGroup
		for _, n := range c.Nodes {
			if n != nil {
				all.Go(func() { _ = n.Stop(context.WithoutCancel(t.Context())) })
			}
		}
		all.Wait()
	})
	if t.Failed() {
		t.FailNow()
	}
	return c
}

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
