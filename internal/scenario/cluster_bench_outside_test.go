//go:build outside

package scenario

import (
	"context"
	"fmt"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
)

// Several servers are compared with one in the same run: how much they take together, and how soon one shows what another was told. Each is a process of its own; all share
// the processors with the clients and the engine.

// setups are one server, and several of a record, with the processor time of their engine, where that is a process of its own.
var setups = []struct {
	name  string
	start func(b *testing.B) (rigs []*rig, engine func() time.Duration)
}{
	{"one server", func(b *testing.B) ([]*rig, func() time.Duration) {
		return startRigs(newRig(b, b.TempDir(), modeServe)), nil
	}},
	{"three nodes of JetStream", func(b *testing.B) ([]*rig, func() time.Duration) {
		return startRigs(newNodes(b, []string{b.TempDir(), b.TempDir(), b.TempDir()}, freeaddr.New(b, 3), nil)...), nil
	}},
	{"three front ends of PostgreSQL", func(b *testing.B) (rigs []*rig, engine func() time.Duration) {
		db := pgtest.Start(b)
		for range 3 {
			r := newRig(b, b.TempDir(), modeServe)
			r.env = []string{childPostgres + "=" + db.URL()}
			rigs = append(rigs, r)
		}
		return startRigs(rigs...), db.Processors
	}},
}

func startRigs(rigs ...*rig) []*rig {
	var ready []<-chan readiness
	for _, r := range rigs {
		ready = append(ready, r.launch())
	}
	for i, r := range rigs {
		r.release(r.await(ready[i]))
	}
	return rigs
}

// BenchmarkServersHTTP is BenchmarkLifecycleHTTP with the clients at several servers.
func BenchmarkServersHTTP(b *testing.B) {
	for _, setup := range setups {
		for _, clients := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%s/clients=%d", setup.name, clients), func(b *testing.B) {
				rigs, engine := setup.start(b)
				url, _ := rigs[0].wait()
				tokens, _ := httpAgents(b, url, rigs[0].dir+"/admin.token")
				pool := make(chan *bare, clients)
				for i := range clients {
					url, _ := rigs[i%len(rigs)].wait()
					pool <- dialBare(b, url)
				}
				before, spent := processors(rigs), time.Duration(0)
				if engine != nil {
					spent = engine()
				}
				measure(b, clients, func(n int, took func(time.Duration)) error {
					c := <-pool
					defer func() { pool <- c }()
					return lifecycleHTTP(c, tokens, n, took)
				})
				b.ReportMetric(float64((processors(rigs)-before).Microseconds())/float64(b.N), "servers-cpu-µs/handoff")
				if engine != nil {
					b.ReportMetric(float64((engine()-spent).Microseconds())/float64(b.N), "engine-cpu-µs/handoff")
				}
			})
		}
	}
}

// processors is the processor time of all servers, their nodes included.
func processors(rigs []*rig) (sum time.Duration) {
	for _, r := range rigs {
		sum += pgtest.Processor(r.cmd.Process.Pid)
	}
	return sum
}

// BenchmarkSeenElsewhere accepts handoffs at one server, while a client waits for that at another.
func BenchmarkSeenElsewhere(b *testing.B) {
	for _, setup := range setups[1:] {
		b.Run(setup.name, func(b *testing.B) {
			rigs, _ := setup.start(b)
			clients := make([]*api.Client, 2)
			var tokens []string
			for i := range clients {
				url, _ := rigs[i].wait()
				if i == 0 {
					tokens, _ = httpAgents(b, url, rigs[0].dir+"/admin.token")
				}
				clients[i] = rigs[i].client(url, tokens[i])
				b.Cleanup(clients[i].Close)
			}
			var called, answered []time.Duration
			for b.Loop() {
				one, two := seenElsewhere(b, clients[0], clients[1])
				called, answered = append(called, one), append(answered, two)
			}
			b.ReportMetric(0, "ns/op")
			for what, list := range map[string][]time.Duration{"from-call": called, "from-answer": answered} {
				b.ReportMetric(float64(ledgertest.Percentile(list, 50).Microseconds()), what+"-p50-µs")
				b.ReportMetric(float64(ledgertest.Percentile(list, 99).Microseconds()), what+"-p99-µs")
			}
		})
	}
}

// seenElsewhere returns how long after the call, and after its answer, that a handoff is accepted is seen at another server: by its source.
func seenElsewhere(b *testing.B, accepts, waits *api.Client) (called, answered time.Duration) {
	b.Helper()
	ctx := context.Background()
	sent, err := waits.CreateTask(ctx, api.CreateInput{Intent: "measure a wait", Send: &api.SendInput{To: []string{agentName(0)}}})
	if err != nil {
		b.Fatal(err)
	}
	type arrival struct {
		at  time.Time
		err error
	}
	got := make(chan arrival, 1)
	go func() {
		t, err := waits.WaitTask(ctx, sent.Task, sent.Position, api.MaxWait)
		if err == nil && t.Owner != agentName(0) {
			err = fmt.Errorf("the owner is %q", t.Owner)
		}
		got <- arrival{time.Now(), err}
	}()
	<-time.After(20 * time.Millisecond) // it waits
	began := time.Now()
	if _, err := accepts.Accept(api.WithPosition(ctx, sent.Position), sent.Handoff, api.AcceptInput{}); err != nil {
		b.Fatal(err)
	}
	ended, seen := time.Now(), <-got
	if seen.err != nil {
		b.Fatal(seen.err)
	}
	return seen.at.Sub(began), max(0, seen.at.Sub(ended))
}
