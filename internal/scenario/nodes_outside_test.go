//go:build outside

package scenario

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natsnode"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
	"github.com/trapezehq/trapeze/internal/server"
)

// member is a front end of a test, with the name by which the others know it.
type member struct {
	*front
	name string
	stop func()
}

// nodesOf starts three nodes of a cluster, or three front ends of a database.
func nodesOf(t *testing.T, engine admin.Engine) (list []member, more func(name string) member) {
	t.Helper()
	dir := t.TempDir()
	var place func(name string) server.Place
	if engine == admin.EngineNodes {
		place = nodePlaces(t)
	} else {
		db := pgtest.Start(t)
		place = func(string) server.Place { return server.Place{Postgres: db.URL()} }
	}
	more = func(name string) member {
		f, stop := openFront(t, place(name), filepath.Join(dir, name))
		return member{front: f, name: name, stop: stop}
	}
	list = make([]member, 3)
	var all sync.WaitGroup
	for i := range list {
		all.Go(func() { list[i] = more(fmt.Sprint("n", i)) })
	}
	all.Wait()
	if t.Failed() { // one of them does not start
		t.FailNow()
	}
	for i := range list {
		k := list[i].cluster() // within a second of its start
		list[i].name = k.Asked
		for _, n := range k.Nodes {
			if n.State == admin.NodeSilent {
				t.Errorf("%s, which has just started, calls %s silent", k.Asked, n.Name)
			}
		}
	}
	return list, more
}

// nodePlaces returns a function that returns where the record of a node is, by its name: n0, n1 and n2, and n3, which may come later.
func nodePlaces(t *testing.T) func(name string) server.Place {
	t.Helper()
	addrs := freeaddr.New(t, 4)
	at := map[string]string{"n0": addrs[0], "n1": addrs[1], "n2": addrs[2], "n3": addrs[3]}
	return func(name string) server.Place {
		return server.Place{NATS: server.NATS{Start: func(_ context.Context, dir string) (server.Node, error) {
			return natsnode.Start(natsnode.Options{Cluster: "test", Name: name, Dir: dir, Addr: at[name], Join: addrs[:3], Secret: natstest.Secret})
		}}}
	}
}

// cluster is what a node knows of all.
func (f *front) cluster() admin.Cluster {
	f.Helper()
	k, err := admin.New(f.boss).ShowCluster(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	return k
}

// node is what one of them is like.
func node(k admin.Cluster, name string) admin.Node {
	for _, n := range k.Nodes {
		if n.Name == name {
			return n
		}
	}
	return admin.Node{}
}

// complete reports whether so many nodes are ready, and all replicas current.
func complete(k admin.Cluster, ready int) bool {
	for _, g := range k.Groups {
		if len(g.Lacking) > 0 || g.Leader == "" {
			return false
		}
	}
	for _, n := range k.Nodes {
		if n.State == admin.NodeReady {
			ready--
		}
	}
	return ready == 0 && k.Trouble == ""
}

func settled(t *testing.T, at member, ready int) (k admin.Cluster) {
	t.Helper()
	until(t, fmt.Sprintf("%d nodes are ready, and all replicas complete", ready), func() bool { k = at.cluster(); return complete(k, ready) })
	return k
}

// What an operator does on the day of an upgrade, and on the day after a machine was lost: on nodes of a cluster, and on front ends of a database.
func TestANodeIsDrainedStoppedAndReplaced(t *testing.T) {
	for name, engine := range map[string]admin.Engine{"JetStream": admin.EngineNodes, "PostgreSQL": admin.EnginePostgreSQL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it is waited for silence
			all, more := nodesOf(t, engine)
			var k admin.Cluster
			for _, m := range all {
				k = settled(t, m, 3)
			}
			for _, n := range k.Nodes {
				if !n.Stop.Safe || n.URL == "" || n.Version != "test" || n.Position == 0 {
					t.Errorf("a node of three: %+v", n)
				}
			}
			if k.Engine != engine {
				t.Errorf("the engine is %s", k.Engine)
			}
			first := drainsOne(t, engine, all)
			all = slices.DeleteFunc(all, func(m member) bool { return m.name == first.name })
			first.stop()
			if engine == admin.EnginePostgreSQL { // one that ends in good order need not come back
				until(t, "it is no longer listed", func() bool { return node(all[0].cluster(), first.name).Name == "" })
				k = settled(t, all[0], 2)
				if !node(k, all[0].name).Stop.Safe {
					t.Errorf("one of two: %+v", node(k, all[0].name).Stop)
				}
				return
			}
			losesOne(t, all, first, more)
		})
	}
}

// drainsOne drains a node at which a client waits, and returns that node.
func drainsOne(t *testing.T, engine admin.Engine, all []member) member {
	t.Helper()
	at := -1
	until(t, "one leads, or has the turn", func() bool {
		k := all[0].cluster()
		at = slices.IndexFunc(all, func(m member) bool {
			return len(node(k, m.name).Leads) > 0 || engine != admin.EngineNodes && node(k, m.name).Turn
		})
		return at >= 0
	})
	first, other := all[at], all[(at+1)%3]
	coder := other.agent("coder", api.AgentSpec{})
	both, err := api.New(first.server.URL()+","+other.server.URL(), coder.Text, api.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	got := make(chan error, 1)
	go func() {
		in, err := both.Inbox(t.Context(), api.InboxOptions{Wait: api.MaxWait})
		if err == nil && len(in.Items) == 0 {
			err = fmt.Errorf("nothing has come")
		}
		got <- err
	}()
	stacks := make([]byte, 8<<20)
	until(t, "its call waits", func() bool {
		select {
		case err := <-got:
			t.Fatal(err)
		default:
		}
		return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "httpapi.patiently[")
	})
	if _, err := admin.New(other.boss).DrainNode(t.Context(), first.name); err != nil {
		t.Fatal(err)
	}
	until(t, "its client goes on to the other", func() bool { return both.URL() == other.server.URL() })
	if err := first.boss.Ready(t.Context()); err == nil {
		t.Error("a drained node says that it is ready")
	}
	if _, err := first.boss.Inbox(t.Context(), api.InboxOptions{Agent: "coder", Wait: api.MaxWait}); code(err) != api.Unavailable {
		t.Errorf("a call that waits at a drained node: %v", err)
	}
	made, err := first.boss.CreateTask(t.Context(), api.CreateInput{Intent: "still taken", Send: &api.SendInput{To: []string{"coder"}}}) // by one who knows no other
	if err != nil {
		t.Fatalf("a change at a drained node: %v", err)
	}
	if err := <-got; err != nil {
		t.Errorf("the wait that went on at the other: %v", err)
	}
	if _, err := both.Accept(t.Context(), made.Task+".h1", api.AcceptInput{}); err != nil {
		t.Error(err)
	}
	until(t, "another leads, and has the turn, and the others are current, so that it can be spared", func() bool {
		n := node(other.cluster(), first.name)
		return len(n.Leads) == 0 && !n.Turn && n.State == admin.NodeDrained && n.Stop.Safe && n.Stop.Do == ""
	})
	for _, m := range all { // it can be undone, and done again
		if m.name != first.name && m.name != other.name {
			_, err = admin.New(m.boss).DrainNode(t.Context(), m.name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := admin.New(m.boss).DrainNode(t.Context(), other.name); code(err) != api.Conflict {
				t.Errorf("the last one that takes work is drained: %v", err)
			}
			if _, err := admin.New(other.boss).ResumeNode(t.Context(), m.name); err != nil {
				t.Fatal(err)
			}
			until(t, "one that takes work again is ready", func() bool { return m.boss.Ready(t.Context()) == nil }) // leaders have moved
		}
	}
	return first
}

// losesOne has a node that was stopped never come back, and another take its place.
func losesOne(t *testing.T, all []member, gone member, more func(string) member) {
	t.Helper()
	var k admin.Cluster
	until(t, "it is silent", func() bool {
		k = all[0].cluster()
		return node(k, gone.name).State == admin.NodeSilent && !node(k, all[1].name).Stop.Safe
	})
	if n := node(k, all[0].name); !strings.Contains(n.Stop.Why, "2 are needed") || !strings.Contains(n.Stop.Do, gone.name) {
		t.Errorf("one of the two that are left: %+v", n.Stop)
	}
	if _, err := admin.New(all[0].boss).RemoveNode(t.Context(), gone.name); code(err) != api.Conflict {
		t.Errorf("removing one of three: %v", err)
	}
	if _, err := admin.New(all[0].boss).RemoveNode(t.Context(), all[1].name); code(err) != api.Conflict {
		t.Errorf("removing one that runs: %v", err)
	}
	late := more("n3")
	until(t, "it has joined", func() bool {
		return slices.Contains(replicasOf(all[0].cluster(), "cluster"), "n3") && node(all[0].cluster(), "n3").State == admin.NodeReady
	})
	until(t, "it may be counted", func() bool {
		_, err := admin.New(all[0].boss).RemoveNode(t.Context(), gone.name)
		return err == nil
	})
	until(t, "the new one has all replicas of the one that is gone", func() bool {
		k = all[0].cluster()
		for _, g := range k.Groups {
			if len(g.Replicas) != 3 || slices.Contains(g.Replicas, gone.name) || !slices.Contains(g.Replicas, "n3") {
				return false
			}
		}
		return complete(k, 3) && node(k, gone.name).Name == ""
	})
	for _, m := range append(all, late) { // and each can now be spared
		if n := node(k, m.name); !n.Stop.Safe {
			t.Errorf("%s: %+v", m.name, n.Stop)
		}
	}
	all[1].stop()                                                                                       // the new one is counted on
	patient, err := api.New(late.server.URL(), tokenIn(t, late.server.AdminTokenFile()), api.Options{}) // which repeats a call while a leader is elected
	if err != nil {
		t.Fatal(err)
	}
	defer patient.Close()
	r, err := patient.CreateTask(t.Context(), api.CreateInput{Intent: "goes on"})
	if err != nil {
		t.Fatalf("with the new one and one of the old: %v", err)
	}
	if _, err := all[0].boss.Task(api.WithPosition(t.Context(), r.Position), r.Task); err != nil {
		t.Error(err)
	}
}

func replicasOf(k admin.Cluster, group string) []string {
	for _, g := range k.Groups {
		if g.Name == group {
			return g.Replicas
		}
	}
	return nil
}
