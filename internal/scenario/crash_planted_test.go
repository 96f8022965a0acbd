//go:build (slow && !race) || outside

package scenario

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// The tests of the crash test: each fault that it looks for is planted, and must be found.

func TestAServerThatAnswersBeforeItWritesIsCaughtByAKill(t *testing.T) {
	embedded(t)
	t.Parallel()
	c := newCampaign(t, modeBehind)
	c.life(3)
	if !slices.ContainsFunc(c.faults, func(err error) bool { return errors.Is(err, errLost) }) {
		t.Errorf("nobody has noticed: %v", c.faults)
	}
}

func TestEveryFaultOfARecordIsFound(t *testing.T) {
	embedded(t)
	t.Parallel()
	entries, deeds := peacefulRecord(t)
	if j := judge(entries, deeds); len(j.faults) > 0 {
		t.Fatalf("a good record is accused: %v", j.faults)
	}
	of := func(name string) int { // the last entry with this event
		for i := len(entries) - 1; i >= 0; i-- {
			for _, ev := range entries[i].Events {
				if ev.Name == name {
					return i
				}
			}
		}
		t.Fatalf("no entry has a %s", name)
		return 0
	}
	// again is an entry at the end of the record.
	again := func(i int) ledger.Entry {
		e := entries[i]
		e.Position = entries[len(entries)-1].Position + 1
		return e
	}
	tests := map[string]struct {
		kind error
		bad  func([]ledger.Entry) []ledger.Entry
	}{
		"the last entry is missing": {errLost, func(es []ledger.Entry) []ledger.Entry { return es[:of("task-completed")] }},
		"an entry is missing": {errOrder, func(es []ledger.Entry) []ledger.Entry {
			return slices.Delete(es, of("task-created"), of("task-created")+1)
		}},
		"a call happened twice": {errTwice, func(es []ledger.Entry) []ledger.Entry { return append(es, again(of("task-created"))) }},
		"a task is completed twice": {errTwice, func(es []ledger.Entry) []ledger.Entry {
			e := again(of("task-completed"))
			e.Key = ""
			return append(es, e)
		}},
		"a task moves within an epoch": {errOwners, func(es []ledger.Entry) []ledger.Entry {
			i := of("handoff-complete")
			e := again(i)
			e.Key, e.Events = "", slices.Clone(e.Events)
			return append(es, e)
		}},
		"a refused call is recorded": {errRefused, func(es []ledger.Entry) []ledger.Entry {
			for _, d := range deeds {
				if d.refused != "" {
					e := again(of("handoff-complete"))
					e.Key = d.digest()
					return append(es, e)
				}
			}
			t.Fatal("nothing was refused")
			return nil
		}},
		"an answer is not what is recorded": {errDiffers, func(es []ledger.Entry) []ledger.Entry {
			a, b := of("task-created"), of("task-completed")
			es[a].Key, es[b].Key = es[b].Key, es[a].Key
			return es
		}},
		"somebody got a task that is not on its way": {errStranded, func(es []ledger.Entry) []ledger.Entry {
			i := of("handoff-request")
			es[i].Events = es[i].Events[:slices.IndexFunc(es[i].Events, func(e ledger.Event) bool { return e.Name == "handoff-request" })+1]
			return es[:i+1]
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j := judge(tt.bad(slices.Clone(entries)), deeds)
			if !j.convicted(tt.kind) {
				t.Errorf("want %q, found %v", tt.kind, j.faults)
			}
		})
	}
	late := *deeds[0]
	late.began, late.ended = time.Now(), time.Now()
	if j := judge(entries, append([]*deed{&late}, deeds[1:]...)); !j.convicted(errOrder) {
		t.Errorf("a call that was asked for when those after it in the record were answered: %v", j.faults)
	}
}

func TestALookThatNoOrderExplainsIsFound(t *testing.T) {
	embedded(t)
	t.Parallel()
	entries, deeds := peacefulRecord(t)
	completed := slices.IndexFunc(deeds, func(d *deed) bool { return d.what == "complete" })
	done := deeds[completed]
	at := func(after, before *deed, of api.Receipt) *seen { // a look between two calls
		return &seen{who: done.who, began: after.ended.Add(1), ended: before.began.Add(-1), task: api.Task{ID: of.Task, State: of.State, Owner: of.Owner, Epoch: of.Epoch, Position: of.Position}}
	}
	late := &deed{who: done.who, began: done.ended.Add(time.Second)}
	accepted := deeds[completed-1]
	open := *done // without an answer
	open.done, open.ended = false, time.Time{}
	for name, test := range map[string]struct {
		deeds []*deed
		look  *seen
		kind  error // nil: it is explained
	}{
		"what is":                              {deeds, at(done, late, done.receipt), nil},
		"what was":                             {deeds, at(accepted, done, accepted.receipt), nil},
		"what was before an answer":            {deeds, at(done, late, accepted.receipt), errStale},
		"what comes later":                     {deeds, at(&deed{}, accepted, done.receipt), errStale},
		"what may have come without an answer": {append(slices.Delete(slices.Clone(deeds), completed, completed+1), &open), at(done, late, accepted.receipt), nil},
		"what nobody wrote":                    {deeds, at(done, late, api.Receipt{Task: done.receipt.Task, State: api.Executing, Owner: "eve", Epoch: 9, Position: done.receipt.Position}), errDiffers},
		"an entry that is of another task":     {deeds, at(done, late, api.Receipt{Task: done.receipt.Task, Position: 1}), errDiffers},
	} {
		t.Run(name, func(t *testing.T) {
			j := judge(entries, test.deeds)
			j.looks(test.deeds, []*seen{test.look})
			if test.kind == nil && len(j.faults) > 0 || test.kind != nil && !j.convicted(test.kind) {
				t.Errorf("want %v, found %v", test.kind, j.faults)
			}
		})
	}
}

// peacefulRecord returns the calls of some clients to a server that is not killed, and its record.
func peacefulRecord(t *testing.T) ([]ledger.Entry, []*deed) {
	c := newCampaign(t, modeServe)
	r := newRig(t, t.TempDir(), modeServe)
	crew := c.hire(r)
	a := crew.actors[0]
	create := func(send *api.SendInput) api.Receipt {
		in := api.CreateInput{Intent: a.intent(), Start: true, Send: send}
		got, _ := a.ask("create", func(ctx context.Context, c *api.Client) (api.Receipt, error) { return c.CreateTask(ctx, in) })
		return got
	}
	mine := create(nil)
	for _, epoch := range []uint64{mine.Epoch, mine.Epoch + 1} { // the second is refused
		a.ask("progress", func(ctx context.Context, c *api.Client) (api.Receipt, error) {
			return c.Progress(ctx, mine.Task, api.ProgressInput{Epoch: epoch, Note: "half"})
		})
	}
	sent := create(&api.SendInput{To: crew.agents[1:2]})
	b := crew.actors[1]
	b.answer(api.Item{Type: "offer", ID: sent.Handoff, Offer: sent.Offer}, false)
	b.complete(b.mine[0].Task, b.mine[0].Epoch)
	if err := r.term(); err != nil {
		t.Fatal(err)
	}
	entries, err := readRecord(r.snapshot())
	if err != nil {
		t.Fatal(err)
	}
	return entries, crew.deeds()
}
