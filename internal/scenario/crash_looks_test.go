//go:build slow || outside

package scenario

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// What clients saw of a task while servers were killed and parted must be linearizable: each call, a change or a look, took place at one moment between its beginning
// and its end. Of a change without an answer nobody knows when that was, nor whether it was, so that the record says that.

var errStale = errors.New("no order explains what was seen of a task")

// seen is what a client saw of a task when it looked.
type seen struct {
	who          *actor
	task         api.Task
	began, ended time.Time
}

func (s *seen) String() string {
	return fmt.Sprintf("%s saw %s of %s in epoch %d, entry %d, within %s", s.who.principal, s.task.State, s.task.Owner, s.task.Epoch, s.task.Position, s.ended.Sub(s.began).Round(time.Millisecond))
}

// doubts are times after which a leader of before may answer a look for a moment. It is known that JetStream's does, when it goes on after a pause, or hears all at once what
// was sent to it before others elected another.
type doubts struct {
	last time.Duration // for so long; 0: never
	mu   sync.Mutex
	at   []time.Time
}

// add notes that servers hear each other again.
func (d *doubts) add() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = append(d.at, time.Now())
}

// of reports whether a look may be at what was before.
func (d *doubts) of(s *seen) bool {
	return slices.ContainsFunc(d.at, func(at time.Time) bool { return s.ended.After(at) && s.began.Before(at.Add(d.last)) })
}

// look looks at one of the newest tasks that the actor has created, with which others are at work.
func (a *actor) look() {
	if len(a.made) == 0 {
		return
	}
	id := a.made[len(a.made)-1-a.rng.IntN(min(len(a.made), 5))]
	s := &seen{who: a, began: time.Now()}
	if a.read(func(c *api.Client) (err error) {
		s.task, err = c.Task(context.Background(), id)
		return err
	}) {
		s.ended = time.Now()
		a.seen = append(a.seen, s)
	}
}

// taskStep is a change of a task, or a look at it, by the number of entries that the task had afterwards.
type taskStep struct {
	look bool
	now  int
}

var taskSteps = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, in, _ any) (bool, any) {
		s := in.(taskStep)
		if s.look {
			return state == s.now, state
		}
		return state == s.now-1, s.now
	},
}

// looks compares what clients saw with the record: porcupine finds whether each task has an order of all changes and looks.
func (j *judgement) looks(deeds []*deed, all []*seen) {
	ops, what := map[string][]porcupine.Operation{}, map[string][]*seen{}
	for _, s := range all {
		what[s.task.ID] = append(what[s.task.ID], s)
	}
	calls := map[ledger.Position]*deed{}
	for _, d := range deeds {
		if at, ok := j.keys[d.digest()]; ok {
			calls[at] = d
		}
	}
	number := map[ledger.Position]int{}
	count := map[string]int{}
	for at := ledger.Position(1); at <= ledger.Position(len(j.at)); at++ {
		_, kind, id := j.at[at].Stream.Parts()
		if kind != "task" || what[id] == nil {
			continue
		}
		count[id]++
		number[at] = count[id]
		op := porcupine.Operation{Input: taskStep{now: count[id]}, Return: math.MaxInt64} // what clocks and others do happens at any time
		if d := calls[at]; d != nil {
			if op.Call = d.began.UnixNano(); d.done {
				op.Return = d.ended.UnixNano()
			}
		}
		ops[id] = append(ops[id], op)
	}
	for id, list := range what {
		for _, s := range list {
			at := ledger.Position(s.task.Position)
			t := j.after[at]
			if told, is := fmt.Sprint(s.task.State, s.task.Owner, s.task.Epoch), fmt.Sprint(t.State, t.Owner, t.Epoch); number[at] == 0 || told != is {
				j.accuse(errDiffers, "%s, recorded is %s", s, is)
				continue
			}
			ops[id] = append(ops[id], porcupine.Operation{Input: taskStep{look: true, now: number[at]}, Call: s.began.UnixNano(), Return: s.ended.UnixNano()})
		}
		if result := porcupine.CheckOperationsTimeout(taskSteps, ops[id], time.Minute); result != porcupine.Ok {
			slices.SortFunc(list, func(a, b *seen) int { return a.began.Compare(b.began) })
			j.accuse(errStale, "%s: %s: %v", id, result, list)
		}
	}
}

// sights is what all clients of a crew have seen.
func (c *crew) sights() (all []*seen) {
	for _, a := range c.actors {
		all = append(all, a.seen...)
	}
	return all
}
