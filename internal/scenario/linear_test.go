//go:build slow || outside

package scenario

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/caller"

	"github.com/anishathalye/porcupine"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Ownership is linearizable: clients fight over a few tasks, in real time and through several nodes where the ledger
// is distributed, and whatever they are told must be explained by the specification in linear_spec_test.go, each call
// at one moment between its beginning and its end. There is no courier: the clients let the clocks tick, so that what
// clocks do is in the history, too.

const (
	clients  = 16
	hotTasks = 3                    // that are fought over at a time
	taskLife = 150                  // operations before a task is replaced
	step     = 3 * time.Millisecond // of the clocks of the tasks, per turn: however slow the machine is, as much ends in time
)

// contestants are the agents. Each has several clients, which see each other's results only through the server.
var contestants = []string{"anna", "bert", "cleo", "dora"}

// contestFaults are milder than those of the stories in their times only: a real clock waits for every one of them.
var contestFaults = ledgertest.Faults{
	Seed: 1, Conflicts: 0.1, Written: 0.03, Lost: 0.03, Gaps: 3, Lag: 2 * time.Millisecond, Latency: time.Millisecond,
}

// bug is a planted mistake.
type bug struct {
	ledger  func(ledger.Ledger) ledger.Ledger
	rewrite func(context.Context, *usecase.UseCases, *harness, string, wish) wish // what the server makes of a call
	keyless bool                                                                  // no idempotency keys
}

// shared is a kind of ledger of some contests only, see [openShared].
const shared = "shared"

// openShared opens a ledger that front ends share. Only tests with the build tag outside set it, and use that kind.
var openShared func(*testing.T) ledger.Ledger

type contest struct {
	bug
	harness *harness
	nodes   []*usecase.UseCases
	post    *post
	history *callHistory
	slots   [hotTasks]slot
	turns   atomic.Int64
}

// slot is a place for a task that is fought over. The tasks before it are still asked for now and then.
type slot struct {
	mu    sync.Mutex
	tasks []string
	left  int
}

func (s *slot) pick(rng *rand.Rand) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.tasks); n > 1 && rng.IntN(20) == 0 {
		return s.tasks[n-2]
	}
	return s.tasks[len(s.tasks)-1]
}

// used counts an operation on a task and replaces the task when it has had its share or is completed.
func (s *slot) used(c *contest, task string, completed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks[len(s.tasks)-1] != task {
		return
	}
	if s.left--; s.left <= 0 || completed {
		s.left, s.tasks = taskLife, append(s.tasks, c.create())
	}
}

// create creates a task and adds that to the history as its first operation. While the record is unavailable it tries
// again, as a client does: nothing was changed.
func (c *contest) create() string {
	n := keys.Add(1)
	by := &client{contest: c, id: 1, agent: contestants[n%4], rng: rand.New(rand.NewPCG(uint64(n), 2))} //nolint:gosec // not negative
	called := c.history.now()
	in := by.newTask()
	r := ok(c.harness, c.harness.agent(by.agent), func(me caller.Caller) (taskstore.Receipt, error) {
		for {
			r, err := c.nodes[0].Tasks.Create(context.Background(), me, in)
			if refusal.CodeOf(err) != refusal.Unavailable {
				return r, err
			}
		}
	})
	c.history.add(by.id, r.Task, wish{verb: vCreate, agent: by.agent}, called, answer{sight: glance(r), partial: true})
	return r.Task
}

// enter opens everything that a contest needs.
func enter(t *testing.T, kind string, seed uint64, b bug) *contest {
	t.Helper()
	h := &harness{TB: t}
	var err error
	nodes := 1
	if kind == sound() {
		h.ledger, h.views, err = openRecord(t.Context(), t.TempDir())
	} else {
		f := contestFaults
		f.Seed, nodes = seed, 3
		h.ledger = ledgertest.NewDouble(f)
		if kind == shared {
			h.ledger = openShared(t)
		}
		h.views, err = sqlview.Follow(t.Context(), h.ledger, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	h.stop = func() {
		if err := h.views.Close(); err != nil {
			t.Error(err)
		}
		if err := h.ledger.Close(); err != nil {
			t.Error(err)
		}
	}
	c := &contest{
		bug: b, harness: h, history: newHistory(),
		post: &post{Ledger: h.ledger, late: 0.05, rng: rand.New(rand.NewPCG(seed, 3))},
	} //nolint:gosec // reproducible on purpose
	var l ledger.Ledger = c.post
	if b.ledger != nil {
		l = b.ledger(l)
	}
	begun := time.Now()
	now := func() time.Time { return begun.Add(time.Duration(c.turns.Load()) * step) }
	for range nodes {
		node, err := usecase.New(l, h.views.Store(), usecase.Options{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		c.nodes = append(c.nodes, node)
	}
	h.app = c.nodes[0]
	for _, a := range contestants {
		h.register(a, agents.AgentSpec{})
	}
	for a, p := range partner { // who must exist
		h.register(a, agents.AgentSpec{Fallbacks: []string{p}})
	}
	return c
}

// fight runs the clients for about so many operations, and ends with a read of every task.
func (c *contest) fight(seed uint64, operations int) {
	for i := range c.slots {
		c.slots[i].left, c.slots[i].tasks = taskLife, []string{c.create()}
	}
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			p := &client{
				contest: c, id: i, agent: contestants[i%len(contestants)], known: map[string]sight{},
				rng: rand.New(rand.NewPCG(seed, uint64(i))),
			} //nolint:gosec // reproducible on purpose
			for c.turns.Add(2) <= int64(operations) && !c.harness.Failed() {
				p.turn()
			}
		})
	}
	wg.Wait()
	c.post.on.Wait()
	last := &client{contest: c, id: clients, agent: contestants[0], known: map[string]sight{}, rng: rand.New(rand.NewPCG(seed, 99))} //nolint:gosec // see above
	for task := range c.history.ops {
		last.do(task, wish{verb: vRead})
	}
}

// verdict asks porcupine about every task. It returns the first that the specification cannot explain, the length of the
// longest history, and the tasks that were not decided in time.
func (c *contest) verdict(each time.Duration) (task string, longest int, undecided []string) {
	for task, ops := range c.history.ops {
		longest = max(longest, len(ops))
		switch porcupine.CheckOperationsTimeout(ownership, ops, each) {
		case porcupine.Illegal:
			return task, longest, undecided
		case porcupine.Ok:
		default:
			undecided = append(undecided, task)
		}
	}
	return "", longest, undecided
}

// tell prints a task's history for debugging.
func (c *contest) tell(task string) string {
	ops := slices.Clone(c.history.ops[task])
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	_, info := porcupine.CheckOperationsVerbose(ownership, ops, time.Minute)
	var b strings.Builder
	explained := map[int]bool{}
	for _, line := range info.PartialLinearizations() {
		for _, l := range line {
			if len(l) > len(explained) {
				explained = map[int]bool{}
				for _, i := range l {
					explained[i] = true
				}
			}
		}
	}
	for i, op := range ops {
		mark := " "
		if !explained[i] {
			mark = "?"
		}
		fmt.Fprintf(&b, "%s %2d %7d-%7dµs  %s -> %s\n", mark, op.ClientId, op.Call/1000, op.Return/1000, op.Input, op.Output)
	}
	return b.String()
}

func TestOwnershipIsLinearizable(t *testing.T) {
	for _, kind := range ledgers {
		for n := range uint64(contestSeeds) {
			seed := *seedFlag + n
			t.Run(fmt.Sprintf("%s/%d", kind, seed), func(t *testing.T) {
				c := enter(t, kind, seed, bug{})
				defer c.harness.stop()
				begun := time.Now()
				c.fight(seed, contestOperations)
				fought := time.Since(begun)
				task, longest, undecided := c.verdict(time.Minute)
				if len(undecided) > 0 {
					t.Errorf("not decided in a minute: %v", undecided)
				}
				n := c.history.tally
				t.Logf("%d tasks, at most %d operations on one; %+v; fought %s, judged %s", len(c.history.ops), longest, n,
					fought.Round(time.Millisecond), (time.Since(begun) - fought).Round(time.Millisecond))
				if task != "" {
					t.Fatalf("no order of these explains what the clients were told:\n%s", c.tell(task))
				}
				if n.lost*5 < n.commands || n.expired*50 < n.commands || n.moved*40 < n.commands || n.open == 0 || n.completed < 5 {
					t.Errorf("too easy: %+v", n)
				}
			})
		}
	}
}
