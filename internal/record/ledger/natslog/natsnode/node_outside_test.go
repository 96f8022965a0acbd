//go:build outside

package natsnode_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natsnode"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
	"github.com/trapezehq/trapeze/internal/server/certificate/certtest"
)

// output keeps what a node logs.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) has(text string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Contains(o.b.String(), text)
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never happens ", what)
		}
	}
}

func start(t *testing.T, o natsnode.Options) (*natsnode.Node, *output) {
	t.Helper()
	out := &output{}
	o.Cluster, o.Dir, o.Log = "test", t.TempDir(), slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	n, err := natsnode.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Stop(context.WithoutCancel(t.Context())) })
	return n, out
}

func TestANodeThatOthersCouldJoinIsRefused(t *testing.T) {
	addrs := freeaddr.New(t, 2)
	ca := certtest.NewCA(t)
	pair := ca.Issue("127.0.0.1")
	used, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = used.Close() })
	for name, o := range map[string]natsnode.Options{
		"at least 20":               {Addr: addrs[0], Join: addrs},
		"at least 20 characters":    {Addr: addrs[0], Join: addrs, Secret: "short"},
		"not on this machine":       {Addr: "node.example.org:6222", Join: addrs, Secret: natstest.Secret},
		"192.0.2.7":                 {Addr: addrs[0], Join: []string{"192.0.2.7:6222"}, Secret: natstest.Secret},
		"the CA of the others":      {Addr: addrs[0], Join: addrs, Cert: pair.Cert, Key: pair.Key},
		"the addresses of the":      {Addr: addrs[0], Secret: natstest.Secret},
		"no name of a node":         {Addr: addrs[0], Join: addrs, Secret: natstest.Secret, Name: "a.b"},
		"address already in use":    {Addr: used.Addr().String(), Join: addrs, Secret: natstest.Secret},
		"no address of a node":      {Addr: "127.0.0.1:no", Join: addrs, Secret: natstest.Secret},
		"no such file or directory": {Addr: addrs[0], Join: addrs, Cert: "none.pem", Key: "none.key", CA: "none.pem"},
	} {
		o.Cluster, o.Dir = "test", t.TempDir()
		n, err := natsnode.Start(o)
		if err == nil {
			_ = n.Stop(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}

func TestANodeWithAnotherSecretDoesNotJoin(t *testing.T) {
	addrs := freeaddr.New(t, 3)
	one, said := start(t, natsnode.Options{Name: "one", Addr: addrs[0], Join: addrs[:2], Secret: natstest.Secret})
	two, _ := start(t, natsnode.Options{Name: "two", Addr: addrs[1], Join: addrs[:2], Secret: natstest.Secret})
	until(t, "that the two join", func() bool { return one.Routes() > 0 && two.Routes() > 0 })
	stranger, heard := start(t, natsnode.Options{Name: "stranger", Addr: addrs[2], Join: addrs, Secret: natstest.Secret + "!"})
	until(t, "that it is turned away", func() bool { return said.has("uthentication") || heard.has("uthoriz") || heard.has("uthentication") })
	if n := stranger.Routes(); n > 0 {
		t.Errorf("it has %d routes", n)
	}
}

func TestNodesWithCertificatesJoinAndOneOfAnotherCADoesNot(t *testing.T) {
	addrs := freeaddr.New(t, 3)
	ca, other := certtest.NewCA(t), certtest.NewCA(t)
	options := func(n int, of *certtest.CA) natsnode.Options {
		p := of.Issue("127.0.0.1")
		return natsnode.Options{Name: fmt.Sprint("n", n), Addr: addrs[n], Join: addrs, Cert: p.Cert, Key: p.Key, CA: ca.File}
	}
	one, said := start(t, options(0, ca))
	two, _ := start(t, options(1, ca))
	until(t, "that the two join", func() bool { return one.Routes() > 0 && two.Routes() > 0 })
	stranger, _ := start(t, options(2, other))
	until(t, "that it is turned away", func() bool { return said.has("TLS") && said.has("certificate") })
	if n := stranger.Routes(); n > 0 {
		t.Errorf("it has %d routes", n)
	}
}

func TestANodeKeepsItsName(t *testing.T) {
	addrs := freeaddr.New(t, 1)
	o := natsnode.Options{Cluster: "test", Dir: filepath.Join(t.TempDir(), "node"), Addr: addrs[0], Join: addrs, Secret: natstest.Secret}
	n, err := natsnode.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	name := n.Name()
	if err := n.Stop(t.Context()); err != nil || name == "" {
		t.Fatalf("%q, %v", name, err)
	}
	o.Name = "another"
	if _, err := natsnode.Start(o); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("under another name: %v", err)
	}
	o.Name = ""
	if n, err = natsnode.Start(o); err != nil {
		t.Fatal(err)
	}
	if n.Name() != name {
		t.Errorf("it is %q, and was %q", n.Name(), name)
	}
	if err := n.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
