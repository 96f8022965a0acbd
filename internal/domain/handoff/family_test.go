package handoff

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// A family is a task with all that comes of it, each made from its parent's record as the server does: the bound on
// all of them together is a promise that no single task can keep.
type family struct {
	rules rules
	tasks []task.Task // a parent before its children
	now   time.Time
}

func newFamily(t *testing.T, r rules, limit int) *family {
	t.Helper()
	f := &family{rules: r, now: t0}
	f.add(t, Create{By: agent("ada"), Task: taskID(1), Intent: "do it", Limits: event.Limits{Tasks: limit, Hops: 1000, Handoffs: 1000}})
	return f
}

func (f *family) add(t *testing.T, c Create) {
	t.Helper()
	f.tasks = append(f.tasks, task.Task{})
	i := len(f.tasks) - 1
	f.must(t, i, c)
	if c.By.IsSystem() { // as its own requester it may start the task
		f.tasks[i].Requester, f.tasks[i].Path = "agent/ada", nil
	}
	f.must(t, i, Start{By: agent("ada")})
}

func (f *family) must(t *testing.T, i int, c Command) {
	t.Helper()
	if err := f.do(i, c); err != nil {
		t.Fatalf("%T: %v", c, err)
	}
}

// do gives a command and does what the server does about it: it makes the children, and tells the parent.
func (f *family) do(i int, c Command) error {
	_, err := f.events(i, c)
	return err
}

func (f *family) events(i int, c Command) ([]event.Event, error) {
	events, err := f.rules.decide(f.tasks[i], c, f.now)
	for _, e := range events {
		f.tasks[i] = f.rules.fold(f.tasks[i], e)
	}
	return events, err
}

func (f *family) spawn(t *testing.T, i, n int, mode event.FanInMode) error {
	t.Helper()
	p := f.tasks[i]
	c := Spawn{
		By: agent("ada"), Epoch: p.Epoch, Kind: event.Broadcast, Reason: event.ReasonSpecialization, Envelope: nextEnvelope(p),
		FanIn: event.FanIn{Mode: mode, Quorum: 1},
	}
	for k := range n {
		index := p.NextChild() + k
		c.Children = append(c.Children, event.NewChild{Task: event.ChildID(p.ID, index), Index: index, To: fmt.Sprint("agent", k), Intent: "a part"})
	}
	events, err := f.events(i, c)
	for _, e := range events {
		if e, ok := e.(event.Spawned); ok {
			for k := range e.Children {
				f.add(t, ChildOf(f.tasks[i], e, k))
			}
		}
	}
	return err
}

// end ends a task and tells its parent, who may be told of it twice.
func (f *family) end(t *testing.T, i int, told int) {
	t.Helper()
	f.must(t, i, Cancel{By: operator("ann")})
	c := f.tasks[i]
	for p := range f.tasks {
		for range told {
			if f.tasks[p].ID == c.Parent.Task {
				f.must(t, p, EndChild{Child: c.ID, State: c.State, Tasks: c.Offspring()})
			}
		}
	}
}

// offspring counts what has really come of a task.
func (f *family) offspring(id string) int {
	n := 0
	for _, c := range f.tasks {
		if c.Parent.Task == id {
			n += 1 + f.offspring(c.ID)
		}
	}
	return n
}

// grow plays at random: every task spawns, ends, parks and is replayed. It returns the first broken promise.
func (f *family) grow(t *testing.T, seed uint64) error {
	t.Helper()
	d := newDice(seed)
	for range 60 {
		i := d.IntN(len(f.tasks))
		task := f.tasks[i]
		var err error
		switch {
		case task.State == event.Parked:
			err = f.do(i, Replay{By: operator("ann")})
		case task.State.Final():
			continue
		case d.chance(20):
			f.end(t, i, 1+d.IntN(2))
		case d.chance(10):
			f.now = f.now.Add(time.Hour)
			err = f.do(i, Tick{})
		default:
			err = f.spawn(t, i, 1+d.IntN(4), pick(d, event.FanInAll, event.FanInQuorum, event.FanInFirst, event.FanInNone, event.FanInNone, event.FanInNone))
		}
		if err != nil && properRefusal(err) != nil {
			return err
		}
		for _, x := range f.tasks {
			if n := f.offspring(x.ID); n > x.Limits.Tasks-x.Used.Tasks+x.Offspring() || n > x.Limits.Tasks {
				return fmt.Errorf("%d tasks came of %s, with %+v and limit %d", n, x.ID, x.Used, x.Limits.Tasks)
			}
		}
	}
	return nil
}

const families = 300

func TestNoMoreTasksComeOfOneThanMay(t *testing.T) {
	r, full := rand.New(rand.NewPCG(3, 4)), 0
	for range families {
		f := newFamily(t, realRules, 1+r.IntN(20))
		if err := f.grow(t, r.Uint64()); err != nil {
			t.Fatal(err)
		}
		if f.offspring(taskID(1)) == f.tasks[0].Limits.Tasks {
			full++
		}
	}
	if full < families/20 {
		t.Errorf("only %d of %d families reached their bound: the test is too easy", full, families)
	}
}

func TestAFamilyThatGrowsWithoutBoundIsCaught(t *testing.T) {
	promised := func(n func(share int) int) rules {
		return each(func(_ task.Task, e event.Event) event.Event {
			if s, ok := e.(event.Spawned); ok {
				for i := range s.Children {
					s.Children[i].Tasks = n(s.Children[i].Tasks)
				}
			}
			return e
		})
	}
	for name, bent := range map[string]rules{
		"each child may make as many as its parent": promised(func(int) int { return 20 }),
		"children do not count themselves": {decide: Decide, fold: func(t task.Task, e event.Event) task.Task {
			after := task.Fold(t, e)
			if s, ok := e.(event.Spawned); ok {
				after.Used.Tasks -= len(s.Children)
			}
			return after
		}},
		"what a child used comes back": {decide: Decide, fold: func(t task.Task, e event.Event) task.Task {
			if c, ok := e.(event.ChildEnded); ok {
				c.Tasks = 0
				e = c
			}
			return task.Fold(t, e)
		}},
		"a child that ends twice gives back twice": {decide: Decide, fold: func(t task.Task, e event.Event) task.Task {
			after := task.Fold(t, e)
			if c, ok := e.(event.ChildEnded); ok && c.State.Final() {
				after.Used.Tasks--
			}
			return after
		}},
		"a replay starts over": {decide: Decide, fold: func(t task.Task, e event.Event) task.Task {
			after := task.Fold(t, e)
			if _, ok := e.(event.Replayed); ok {
				after.Used.Tasks = 0
			}
			return after
		}},
	} {
		r, caught := rand.New(rand.NewPCG(5, 6)), false
		for range families {
			f := newFamily(t, bent, 1+r.IntN(20))
			if caught = f.grow(t, r.Uint64()) != nil; caught {
				break
			}
		}
		if !caught {
			t.Errorf("%s, and no family of %d has grown too large", name, families)
		}
	}
}

func TestAChainOfDelegationsIsAsLongAsTheHopsAllow(t *testing.T) {
	f := newFamily(t, realRules, 0)
	for i := range 12 {
		if err := f.spawn(t, i, 1, event.FanInAll); err != nil {
			t.Fatalf("delegation %d: %v", i+1, err)
		}
	}
	if left := f.tasks[12].Limits.Tasks - f.tasks[12].Used.Tasks; left != 1000-12 {
		t.Errorf("the last of twelve may make %d tasks", left)
	}
}

func TestAParentThatGoesOnKeepsMostForItself(t *testing.T) {
	f := newFamily(t, realRules, 0)
	for i := range 60 {
		if err := f.spawn(t, 0, 1, event.FanInNone); err != nil {
			t.Fatalf("the %d-th child that nobody waits for: %v", i+1, err)
		}
	}
	f = newFamily(t, realRules, 3)
	if err := f.spawn(t, 0, 4, event.FanInAll); refusal.CodeOf(err) != refusal.Limit {
		t.Errorf("four of three: %v", err)
	}
	if len(f.tasks[0].Children) > 0 || f.tasks[0].State != event.Executing {
		t.Errorf("after a refusal: %+v", f.tasks[0])
	}
	if err := f.spawn(t, 0, 3, event.FanInNone); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 1} {
		if err := f.spawn(t, i, 1, event.FanInAll); refusal.CodeOf(err) != refusal.Limit {
			t.Errorf("one more of %s: %v", f.tasks[i].ID, err)
		}
	}
}

func TestARecordWithoutABoundOnTasksHasTheDefault(t *testing.T) {
	task := task.Fold(task.Task{}, event.Created{Task: taskID(1), Intent: "old", Limits: event.Limits{Hops: 4}})
	if task.Limits.Tasks != 1000 || task.Limits.Hops != 4 {
		t.Errorf("%+v", task.Limits)
	}
}
