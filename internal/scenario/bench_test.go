package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/google/uuid"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/server/garbage"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// The life-cycle benchmarks: a task is created and sent, accepted with automatic confirm, and completed; three durable
// commits. Each handoff carries 1 KiB of context; the clients share 100 agents, whose inboxes are read meanwhile.
// x-fsync is the median of one durable commit in medians of a raw fdatasync of 1 KiB in the same run.

const (
	benchAgents  = 100
	benchReaders = 10
	readEvery    = 20 * time.Millisecond // for each reader: every inbox is read five times a second
)

var kib = json.RawMessage(`{"note":"` + strings.Repeat("x", 1010) + `"}`)

func agentName(i int) string { return fmt.Sprintf("agent-%02d", i%benchAgents) }

// lifecycle is one handoff from creation to completion, by the three calls that the API makes.
func lifecycle(a *usecase.UseCases, h *harness, n int, took func(time.Duration)) error {
	from, to := h.agent(agentName(n)), h.agent(agentName(n+1))
	step := func(do func() error) error {
		start := time.Now()
		err := do()
		took(time.Since(start))
		return err
	}
	key := func(c caller.Caller) caller.Caller {
		id, err := uuid.NewV7()
		if err != nil {
			panic(err)
		}
		return c.WithKey(id.String())
	}
	ctx := context.Background()
	var r taskstore.Receipt
	var got tasks.Accepted
	if err := step(func() (err error) {
		r, err = a.Tasks.Create(ctx, key(from), &tasks.CreateInput{
			Intent:  "measure a handoff",
			Content: envelopes.Content{Data: kib},
			Send:    &handoffs.SendInput{To: []string{to.Name}, Reason: event.ReasonSpecialization},
		})
		return err
	}); err != nil {
		return err
	}
	if err := step(func() (err error) {
		got, err = a.Tasks.Accept(ctx, key(to), tasks.AcceptInput{Handoff: r.Handoff})
		return err
	}); err != nil {
		return err
	}
	return step(func() error {
		done, err := a.Tasks.Complete(ctx, key(to), tasks.CompleteInput{Task: r.Task, Epoch: got.Epoch, Result: event.Result{Text: "done"}})
		if err == nil && (done.State != event.Completed || got.Content == nil) {
			return fmt.Errorf("not completed: %+v", done)
		}
		return err
	})
}

func BenchmarkLifecycle(b *testing.B) {
	garbage.Tune()
	for _, clients := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			h := open(b, sound())
			defer h.stop()
			for i := range benchAgents {
				h.join(agentName(i))
			}
			stop := h.poll(benchReaders)
			defer stop()
			measure(b, clients, func(n int, took func(time.Duration)) error { return lifecycle(h.app, h, n, took) })
		})
	}
}

// poll reads inboxes, as their agents do, until it is stopped.
func (h *harness) poll(readers int) (stop func()) {
	return pollInboxes(h, readers, func(ctx context.Context, n int) error {
		_, err := h.app.Tasks.Inbox(ctx, h.agent(agentName(n)), tasks.InboxInput{})
		return err
	})
}

// pollInboxes reads the inboxes of agents by number, each with readEvery between two reads, until it is stopped.
func pollInboxes(tb testing.TB, readers int, read func(ctx context.Context, n int) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for r := range readers {
		wg.Go(func() {
			for n := r; ctx.Err() == nil; n += readers {
				if err := read(ctx, n); err != nil && ctx.Err() == nil {
					tb.Error(err)
					return
				}
				select {
				case <-time.After(readEvery):
				case <-ctx.Done():
				}
			}
		})
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// figures are what clients saw of a number of life cycles.
type figures struct {
	perSecond        float64
	p50, p99, commit time.Duration // of a whole life cycle; of one durable commit
	cpu              time.Duration // of this process for one life cycle, load generator included
}

// drive runs n life cycles from a number of clients.
func drive(t testing.TB, clients, n int, op func(n int, took func(time.Duration)) error) figures {
	t.Helper()
	var mu sync.Mutex
	var commits, whole []time.Duration
	var next atomic.Int64
	var wg sync.WaitGroup
	start, cpu := time.Now(), processor(t)
	for range clients {
		wg.Go(func() {
			var mine, all []time.Duration
			for {
				i := int(next.Add(1))
				if i > n {
					break
				}
				began := time.Now()
				if err := op(i, func(d time.Duration) { mine = append(mine, d) }); err != nil {
					t.Error(err)
					return
				}
				all = append(all, time.Since(began))
			}
			mu.Lock()
			defer mu.Unlock()
			commits, whole = append(commits, mine...), append(whole, all...)
		})
	}
	wg.Wait()
	elapsed := time.Since(start)
	return figures{
		perSecond: float64(n) / elapsed.Seconds(), p50: ledgertest.Percentile(whole, 50), p99: ledgertest.Percentile(whole, 99),
		commit: ledgertest.Percentile(commits, 50), cpu: (processor(t) - cpu) / time.Duration(max(n, 1)),
	}
}

// measure runs life cycles from a number of clients and reports them.
func measure(b *testing.B, clients int, op func(n int, took func(time.Duration)) error) {
	b.Helper()
	b.ResetTimer()
	f := drive(b, clients, b.N, op)
	b.StopTimer()
	b.ReportMetric(f.perSecond, "handoffs/s")
	b.ReportMetric(float64(f.p50.Microseconds()), "p50-µs")
	b.ReportMetric(float64(f.p99.Microseconds()), "p99-µs")
	b.ReportMetric(float64(f.cpu.Microseconds()), "cpu-µs/handoff")
	b.ReportMetric(0, "ns/op") // the figure per client means nothing
	ledgertest.ReportSync(b, b.TempDir(), f.commit)
}
