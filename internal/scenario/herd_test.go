package scenario

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// herd is many agents with one capability that wait for their inboxes, and as many handoffs that are sent to it at once by
// broadcast: the first to accept gets the task.
type herd struct {
	*harness
	size   int
	claims sync.Map // task -> *atomic.Int32: who was told that it is theirs
	left   atomic.Int32
	looks  atomic.Int32    // answers of inboxes
	tries  atomic.Int32    // calls that accept
	took   []time.Duration // from the call that sent it to the answer of the call that claimed it
	sent   sync.Map        // task -> time.Time
	mu     sync.Mutex
}

func newHerd(h *harness, size int) *herd {
	for i := range size {
		h.register(fmt.Sprintf("digger-%04d", i), agents.AgentSpec{Capabilities: []string{"dig"}})
	}
	h.join("ada")
	g := &herd{harness: h, size: size}
	g.left.Store(int32(size))
	return g
}

// run sends and claims until nothing is left.
func (g *herd) run(senders int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var waiting, sending sync.WaitGroup
	for i := range g.size {
		waiting.Go(func() { g.dig(ctx, cancel, fmt.Sprintf("digger-%04d", i)) })
	}
	for i := range senders {
		sending.Go(func() {
			for n := i; n < g.size; n += senders {
				start := time.Now()
				r := g.create(g.agent("ada"), tasks.CreateInput{
					Intent: fmt.Sprintf("hole %d", n), Send: &handoffs.SendInput{Capability: "dig", Kind: event.Broadcast},
				})
				g.sent.Store(r.Task, start)
			}
		})
	}
	sending.Wait()
	waiting.Wait()
}

// dig waits for a handoff, claims it and completes it, until no handoff is left.
func (g *herd) dig(ctx context.Context, done func(), name string) {
	for ctx.Err() == nil {
		box, err := g.app.Tasks.Inbox(ctx, g.agent(name), tasks.InboxInput{Wait: 30 * time.Second})
		if err != nil {
			if ctx.Err() == nil && refusal.CodeOf(err) != refusal.Unknown {
				g.Error(err)
				done()
			}
			continue
		}
		g.looks.Add(1)
		for _, item := range box.Items {
			g.tries.Add(1)
			got, err := call(g.agent(name), func(c caller.Caller) (tasks.Accepted, error) {
				return g.app.Tasks.Accept(context.WithoutCancel(ctx), c, tasks.AcceptInput{Handoff: item.ID, Offer: item.Offer})
			})
			switch code := refusal.CodeOf(err); {
			case err == nil:
			case code == refusal.Expired || code == refusal.NotFound || code == refusal.Conflict: // another was faster
				continue
			default:
				g.Errorf("%s claims %s: %v", name, item.ID, err)
				done()
				return
			}
			g.claimed(got.Task)
			g.complete(name, got.Receipt, "dug by "+name)
			if g.left.Add(-1) == 0 {
				done()
			}
		}
	}
}

func (g *herd) claimed(task string) {
	n, _ := g.claims.LoadOrStore(task, new(atomic.Int32))
	n.(*atomic.Int32).Add(1)
	if start, ok := g.sent.Load(task); ok { // the claim may be answered before the call that sent it
		g.mu.Lock()
		g.took = append(g.took, time.Since(start.(time.Time)))
		g.mu.Unlock()
	}
}

// check looks at the record: one owner and one transfer for each task, and no task left.
func (g *herd) check() {
	g.settle()
	diggers := map[string]bool{}
	count := 0
	g.claims.Range(func(task, n any) bool {
		count++
		if got := n.(*atomic.Int32).Load(); got != 1 {
			g.Errorf("task %s was given to %d agents", task, got)
		}
		t := g.task(task.(string))
		if t.State != event.Completed || t.Epoch != 1 || t.Result.Text != "dug by "+t.Owner {
			g.Errorf("task %s is %s, owned by %s in epoch %d, result %+v", task, t.State, t.Owner, t.Epoch, t.Result)
		}
		trail := ok(g, g.operator(), func(c caller.Caller) (*view.Trail, error) { return g.app.History.Trail(ctx(g), c, t.ID) })
		moves := slices.DeleteFunc(slices.Clone(trail.Entries), func(e view.AuditEntry) bool { return e.Event != "handoff-complete" })
		if len(moves) != 1 {
			g.Errorf("task %s was handed over %d times", task, len(moves))
		}
		diggers[t.Owner] = true
		return true
	})
	if count != g.size {
		g.Errorf("%d of %d tasks found an owner", count, g.size)
	}
	if len(diggers) < g.size/4 { // idle agents must not look on while a few do everything
		g.Errorf("only %d of %d agents got anything", len(diggers), g.size)
	}
}

// BenchmarkHerd is the time to claim: from the call that sends a handoff to a capability that a thousand agents have and
// wait with, to the answer that one of them owns it. The thousand handoffs are sent by 32 clients, as fast as they go.
func BenchmarkHerd(b *testing.B) {
	for range b.N {
		b.StopTimer()
		h := open(b, sound())
		g := newHerd(h, 1000)
		cpu, began := processor(b), time.Now()
		b.StartTimer()
		g.run(32)
		b.StopTimer()
		b.ReportMetric(float64((processor(b)-cpu).Microseconds())/float64(g.size), "cpu-µs/claim")
		b.ReportMetric(float64(g.looks.Load())/float64(g.size), "looks/claim")
		b.ReportMetric(float64(g.tries.Load())/float64(g.size), "tries/claim")
		b.ReportMetric(time.Since(began).Seconds()*1000, "all-ms")
		slices.Sort(g.took)
		b.ReportMetric(float64(g.took[len(g.took)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(g.took[len(g.took)*99/100].Microseconds())/1000, "p99-ms")
		h.stop()
	}
}
