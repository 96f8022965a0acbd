package handoff

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// run plays one random story and returns the first broken promise, with the story. seen counts events, if not nil.
func run(r rules, seeds []uint64, seen *sight) error {
	var told []step
	h := history{limits: event.Limits{}}
	now, t := t0, task.Task{}
	for i, seed := range seeds {
		d := newDice(seed)
		var c Command = d.create(now)
		if i > 0 {
			now = now.Add(d.step())
			c = d.command(t)
		}
		before := t
		after, events, err := r.apply(t, c, now)
		told = append(told, step{now: now, command: c, events: events})
		if err == nil {
			err = lawful(before, c, events, after)
		}
		if err == nil {
			err = sound(after)
		}
		if err == nil {
			err = h.take(events)
		}
		if err == nil {
			err = inOrder(before, after.ID, events)
		}
		if err == nil && i > 0 && d.chance(50) {
			var more []event.Event
			rested := after
			if after, more, err = ticks(r, after, d.tick(after), now); err == nil {
				err = errors.Join(h.take(more), inOrder(rested, after.ID, more))
			}
			told[i].ticked, told[i].more = true, more
			events = slices.Concat(events, more)
		}
		if err != nil {
			return fmt.Errorf("%w\n%s", err, printed(told))
		}
		if seen != nil {
			seen.take(before, after.ID, events)
		}
		t = after
	}
	return nil
}

// step is what happened in one step of a story, for the report if it breaks a promise.
type step struct {
	now          time.Time
	command      Command
	events, more []event.Event // of the command, and of the ticks after it
	ticked       bool
}

func printed(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&b, "%s %s\n    -> %v\n", s.now.Format("15:04:05.000"), describe(s.command), eventNames(s.events))
		if s.ticked {
			fmt.Fprintf(&b, "    ticks -> %v\n", eventNames(s.more))
		}
	}
	return b.String()
}

// history counts what happened, apart from the task's own counting.
type history struct {
	limits                       event.Limits
	hops, requests, losses, acks int
}

func (h *history) take(events []event.Event) error {
	for _, e := range events {
		switch e := e.(type) {
		case event.Created:
			h.limits, h.hops = e.Limits, len(e.Path)-1
			if len(e.Path) == 0 {
				h.hops = 0
			}
		case event.Replayed:
			h.hops, h.requests, h.losses = 0, 0, 0
		case event.HandoffRequested:
			if !e.Recovery && e.Ticket == 0 {
				h.requests++
			}
			h.acks = 0
		case event.Acknowledged:
			h.acks++
		case event.LeaseLost:
			h.losses++
		case event.Spawned:
			h.requests++
		case event.Moved:
			if e.Hop {
				h.hops++
			}
		}
		if h.hops > h.limits.Hops || h.requests > h.limits.Handoffs || h.losses > h.limits.Attempts+1 || h.acks > 1 {
			return fmt.Errorf("limits %+v, and there were %+v", h.limits, *h)
		}
	}
	return nil
}

func checks(t *testing.T, n int) {
	t.Helper()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue { // a count on the command line wins
		if err := flag.Set("rapid.checks", fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { flag.Set("rapid.checks", f.DefValue) })
	}
}

func TestRandomStoriesKeepEveryPromise(t *testing.T) {
	checks(t, sequences)
	seen := &sight{map[string]int{}, map[string]int{}, map[string]bool{}}
	rapid.Check(t, func(rt *rapid.T) {
		seeds := rapid.SliceOfN(rapid.Uint64(), 20, 60).Draw(rt, "seeds")
		if err := run(realRules, seeds, seen); err != nil {
			rt.Fatal(err)
		}
	})
	for _, e := range event.Events {
		if seen.events[e.EventName()] == 0 {
			t.Errorf("no story had a %s: the stories are too easy", e.EventName())
		}
	}
	if rare {
		seen.check(t)
	}
	t.Log(seen.events)
}

func TestFoldNeverChangesWhatItIsGiven(t *testing.T) {
	checks(t, watched)
	rapid.Check(t, func(rt *rapid.T) {
		if err := run(rules{Decide, watchedFold}, rapid.SliceOfN(rapid.Uint64(), 20, 60).Draw(rt, "seeds"), nil); err != nil {
			rt.Fatal(err)
		}
	})
}

// watchedFold panics where Fold changed its input.
func watchedFold(t task.Task, e event.Event) task.Task {
	wasTask, wasEvent := deepCopy(t), reflect.New(reflect.TypeOf(e)).Elem()
	copyInto(wasEvent, reflect.ValueOf(e))
	out := task.Fold(t, e)
	if !reflect.DeepEqual(wasTask, t) || !reflect.DeepEqual(wasEvent.Interface(), e) {
		panic(fmt.Sprintf("Fold changed its input: %T\n%+v\n%+v", e, wasTask, t))
	}
	return out
}

func TestWhatIsReadBackFoldsToTheSameTask(t *testing.T) {
	checks(t, reread)
	rapid.Check(t, func(rt *rapid.T) {
		if err := run(rules{Decide, rereadFold}, rapid.SliceOfN(rapid.Uint64(), 20, 60).Draw(rt, "seeds"), nil); err != nil {
			rt.Fatal(err)
		}
	})
}

// rereadFold panics where an event that went through JSON folds to another task.
func rereadFold(t task.Task, e event.Event) task.Task {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false) // as the ledger's codec writes
	if err := enc.Encode(e); err != nil {
		panic(err)
	}
	p := reflect.New(reflect.TypeOf(e))
	if err := json.Unmarshal(data.Bytes(), p.Interface()); err != nil {
		panic(err)
	}
	out, again := task.Fold(t, e), task.Fold(t, p.Elem().Interface().(event.Event))
	if !reflect.DeepEqual(out, again) {
		panic(fmt.Sprintf("%s\nfolds to %+v\nand not  %+v", &data, again, out))
	}
	return again
}

func TestAnyEventsInAnyOrderFoldWithoutPanic(t *testing.T) {
	checks(t, 2000)
	rapid.Check(t, func(rt *rapid.T) {
		var held task.Task
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(event.Events)-1), 1, 20).Draw(rt, "events") {
			held = task.Fold(held, event.Events[i])
			held.Due()
		}
	})
}

func TestADecisionDoesNotDependOnTheWallClockOrItsZone(t *testing.T) {
	local := t0.In(time.FixedZone("somewhere", 3600))
	c := Create{By: agent("ada"), Task: taskID(1), Intent: "do it", Deadline: local.Add(time.Hour)}
	a, errA := Decide(task.Task{}, c, local)
	b, errB := Decide(task.Task{}, Create{By: c.By, Task: c.Task, Intent: c.Intent, Deadline: t0.Add(time.Hour)}, t0)
	if errA != nil || errB != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%v %v\n%+v\n%+v", errA, errB, a, b)
	}
}
