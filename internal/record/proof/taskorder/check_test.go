package taskorder_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof/taskorder"
)

// entry is one of the record of a test.
type entry struct {
	task   string
	events []event.Event
}

// record is a record of such entries.
type record []ledger.Entry

func (r record) Last(context.Context) (ledger.Position, error) { return ledger.Position(len(r)), nil }

func (r record) Read(_ context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	return r[after:min(int(after)+limit, len(r))], nil //nolint:gosec // a few
}

func write(t *testing.T, list []entry) record {
	t.Helper()
	codec := ledger.NewCodec(event.Events...)
	last, out := map[string]uint64{}, record{}
	for i, e := range list {
		events, err := codec.EncodeAll(e.events)
		if err != nil {
			t.Fatal(err)
		}
		last[e.task]++
		out = append(out, ledger.Entry{Position: ledger.Position(i + 1), Stream: ledger.StreamOf("default", ledger.TaskKind, e.task), Version: last[e.task], Events: events}) //nolint:gosec // a few
	}
	return out
}

func id(n int) string { return fmt.Sprintf("task_%026d", n) }

func agent(name string) identity.Principal {
	return identity.Principal{Role: identity.Agent, Name: name}
}

// written is what the rules write: ada makes a task, starts it, hands it off to ben, who accepts; ben delegates a part, whose end he waits for, and completes it.
func written(t *testing.T) []entry {
	t.Helper()
	now, tasks, list := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), map[string]task.Task{}, []entry(nil)
	envelopes := 0
	seal := func(of string) event.Sealed {
		envelopes++
		return event.Sealed{Digest: fmt.Sprintf("sha256:%d", envelopes), Parent: tasks[of].Envelope, Bytes: []byte(`{}`)}
	}
	do := func(of string, c handoff.Command) {
		t.Helper()
		events, err := handoff.Decide(tasks[of], c, now)
		if err != nil {
			t.Fatalf("%T: %v", c, err)
		}
		tasks[of] = task.FoldAll(tasks[of], events)
		list = append(list, entry{of, events})
		now = now.Add(time.Second)
	}
	parent, child := id(1), event.ChildID(id(1), 1)
	do(parent, handoff.Create{By: agent("ada"), Task: parent, Intent: "do it"})
	do(parent, handoff.Start{By: agent("ada")})
	do(parent, handoff.Send{
		By: agent("ada"), Epoch: 1, Kind: event.Warm, Reason: event.ReasonSpecialization, Detail: "x", Confirm: event.ConfirmExplicit,
		Candidates: []event.Candidate{{Agent: "ben", Tier: event.TierTarget}}, Envelope: seal(parent),
	})
	do(parent, handoff.See{Agent: "ben", Handoff: 1, Offer: 1})
	do(parent, handoff.Accept{By: agent("ben"), Handoff: 1, Offer: 1})
	do(parent, handoff.Confirm{By: agent("ada"), Epoch: 1, Handoff: 1})
	do(parent, handoff.Spawn{
		By: agent("ben"), Epoch: 2, Kind: event.Delegation, FanIn: event.FanIn{Mode: event.FanInAll}, Reason: event.ReasonSpecialization, Detail: "x",
		Children: []event.NewChild{{Task: child, Index: 1, To: "cleo", Intent: "a part"}}, Envelope: seal(parent),
	})
	spawned := list[len(list)-1].events[1].(event.Spawned)
	do(child, handoff.ChildOf(tasks[parent], spawned, 0))
	do(child, handoff.Send{
		By: agent("ben"), Kind: event.Warm, Reason: event.ReasonSpecialization, Detail: "x", Confirm: event.ConfirmAuto,
		Candidates: []event.Candidate{{Agent: "cleo", Tier: event.TierTarget}}, Envelope: seal(child),
	})
	do(child, handoff.Accept{By: agent("cleo"), Handoff: 1, Offer: 1})
	do(child, handoff.Complete{By: agent("cleo"), Epoch: 1, Result: event.Result{Text: "done"}})
	do(parent, handoff.EndChild{Child: child, State: event.Completed, Result: &event.Result{Text: "done"}})
	do(parent, handoff.Complete{By: agent("ben"), Epoch: 2, Result: event.Result{Text: "all done"}})
	return list
}

// Places in what is written.
const (
	asked, seen, accepted, confirmed, delegated, made, ended, told, completed = 2, 3, 4, 5, 6, 7, 10, 11, 12
)

// change replaces an event in a copy of a list.
func change[E event.Event](list []entry, at int, how func(*E)) []entry {
	list = slices.Clone(list)
	list[at].events = slices.Clone(list[at].events)
	for i, e := range list[at].events {
		if e, is := e.(E); is {
			how(&e)
			list[at].events[i] = e
			return list
		}
	}
	panic("there is no such event")
}

func without(list []entry, at ...int) (out []entry) {
	for i, e := range list {
		if !slices.Contains(at, i) {
			out = append(out, e)
		}
	}
	return out
}

func instead(list []entry, at int, of string, events ...event.Event) []entry {
	list = slices.Clone(list)
	list[at] = entry{of, events}
	return list
}

func also(list []entry, at int, e entry) []entry { return slices.Insert(slices.Clone(list), at, e) }

func TestWhatTheRulesWriteIsNoFinding(t *testing.T) {
	t.Parallel()
	if found, err := taskorder.Check(t.Context(), write(t, written(t))); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestWhatNoRuleWritesIsNamedWithItsPosition(t *testing.T) {
	t.Parallel()
	list, parent := written(t), id(1)
	after := time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)
	for what, c := range map[string]struct {
		list []entry
		at   int // its index
		says string
	}{
		"accepted without an offer":       {instead(list, asked, parent, event.Acknowledged{Handoff: 1, Offer: 1, Agent: "ben"}), asked, "handoff-acknowledgment without a handoff"},
		"accepted twice":                  {also(list, accepted, list[accepted]), accepted + 1, "handoff-acknowledgment of a handoff that is accepted"},
		"accepted by another":             {change(list, accepted, func(e *event.Acknowledged) { e.Agent = "eve" }), accepted, "of eve, to which it was not offered"},
		"an offer that was never made":    {change(list, accepted, func(e *event.Acknowledged) { e.Offer = 2 }), accepted, "with the offer 2, where it is 1"},
		"another handoff":                 {change(list, accepted, func(e *event.Acknowledged) { e.Handoff = 2 }), accepted, "with the handoff 2, where it is 1"},
		"confirmed before accepted":       {without(list, accepted), accepted, "handoff-confirm of a handoff that is offered"},
		"moved without a confirmation":    {instead(list, confirmed, parent, list[confirmed].events[1]), confirmed, "handoff-complete without a confirmation"},
		"moved to another":                {change(list, confirmed, func(e *event.Moved) { e.To = "eve" }), confirmed, "with the owner eve, where it is ben"},
		"moved with another envelope":     {change(list, confirmed, func(e *event.Moved) { e.Delivery = "sha256:9" }), confirmed, "with the envelope sha256:9"},
		"an epoch that goes back":         {change(list, confirmed, func(e *event.Moved) { e.Epoch = 1 }), confirmed, "with the epoch 1, where it is 2"},
		"an epoch that is skipped":        {change(list, confirmed, func(e *event.Moved) { e.Epoch = 3 }), confirmed, "with the epoch 3, where it is 2"},
		"two owners":                      {also(list, confirmed+1, entry{parent, []event.Event{event.Started{Agent: "ada"}}}), confirmed + 1, "task-started of a task that is executing"},
		"started by one who did not ask":  {change(list, 1, func(e *event.Started) { e.Agent = "eve" }), 1, "with the agent agent/eve"},
		"handed off by another":           {change(list, asked, func(e *event.HandoffRequested) { e.From = "eve" }), asked, "with the source eve, where it is ada"},
		"completed by another":            {change(list, completed, func(e *event.Finished) { e.Agent = "ada" }), completed, "with the owner ada, where it is ben"},
		"completed twice":                 {append(slices.Clone(list), list[completed]), completed + 1, "task-completed of a task that is completed"},
		"completed while it waits":        {without(list, told), told, "task-completed of a task that is waiting"},
		"made twice":                      {also(list, 1, list[0]), 1, "task-created of a task that exists"},
		"never made":                      {without(list, 0), 0, "task-started of a task that was not created"},
		"another id":                      {change(list, 0, func(e *event.Created) { e.Task = id(9) }), 0, "with the task " + id(9)},
		"a child before its parent asks":  {also(without(list, made), delegated, list[made]), delegated, "task-created of a child of " + parent + ", which has not asked for it"},
		"a child that nobody asked for":   {change(list, made, func(e *event.Created) { e.Parent.Task = id(9) }), made, "which has not asked for it"},
		"a child ends before it has":      {also(without(list, told), ended, list[told]), ended, "child-ended: task " + event.ChildID(parent, 1) + " is not completed"},
		"a child ends otherwise":          {change(list, told, func(e *event.ChildEnded) { e.State = event.Failed }), told, "is not failed"},
		"an end of no child":              {change(list, told, func(e *event.ChildEnded) { e.Child = event.ChildID(parent, 2) }), told, "is not completed"},
		"seen by one to whom it was not":  {change(list, seen, func(e *event.Seen) { e.Agent = "eve" }), seen, "of eve, to which it was not offered"},
		"a loss of another epoch":         {also(list, 2, entry{parent, []event.Event{event.LeaseLost{Agent: "ada", Epoch: 2, At: after}}}), 2, "with the epoch 2, where it is 1"},
		"an answer without a ticket":      {also(list, 2, entry{parent, []event.Event{event.TicketClosed{Ticket: 1, At: after}}}), 2, "ticket-closed of a task that is executing"},
		"a takeover that nobody asked":    {also(list, 2, entry{parent, []event.Event{event.TakeoverRefused{Takeover: 1, By: "ada"}}}), 2, "takeover-refused that nobody asked for"},
		"a constraint that was never set": {also(list, 2, entry{parent, []event.Event{event.Lifted{ID: "c1"}}}), 2, "constraint-lifted of a constraint that was not set"},
	} {
		found, err := taskorder.Check(t.Context(), write(t, c.list))
		if err != nil || len(found) == 0 || found[0].Position != ledger.Position(c.at+1) || !strings.Contains(found[0].What, c.says) { //nolint:gosec // a few
			t.Errorf("%s: %v, %v; want position %d and %q", what, found, err, c.at+1, c.says)
		}
	}
}

func TestAnEntryThatIsLeftOutOfItsStreamIsNamed(t *testing.T) {
	t.Parallel()
	r := write(t, written(t))
	r[accepted].Version++
	found, err := taskorder.Check(t.Context(), r)
	if err != nil || len(found) != 1 || found[0].Position != accepted+1 || !strings.Contains(found[0].What, "it is entry 6 of its stream, after entry 4") {
		t.Errorf("%v, %v", found, err)
	}
}

// TestEnvelopesAreDecodedOnlyForOthers: of an envelope the order needs only the digest; what builds the views from the same entries needs all of it.
func TestEnvelopesAreDecodedOnlyForOthers(t *testing.T) {
	t.Parallel()
	sealed, others := 0, 0
	stored := func() record {
		r := write(t, written(t))
		for i := range r {
			for j, e := range r[i].Events {
				r[i].Events[j] = ledger.Event{Name: e.Name, Version: e.Version, Data: e.Data}
			}
		}
		return r
	}
	decoded := func(r record, envelopes bool) {
		for _, e := range r {
			for i := range e.Events {
				is := e.Events[i].Name == (event.Sealed{}).EventName()
				if e.Events[i].Decoded() != (envelopes || !is) {
					t.Errorf("envelopes are decoded: %v; %s at %d is not as it should be", envelopes, e.Events[i].Name, e.Position)
				}
				if is {
					sealed++
				} else {
					others++
				}
			}
		}
	}
	alone := stored()
	if found, err := taskorder.Check(t.Context(), alone); err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	decoded(alone, false)
	beside, c := stored(), taskorder.New()
	for i := range beside {
		c.Prepare(&beside[i])
	}
	decoded(beside, true)
	if sealed == 0 || others == 0 {
		t.Errorf("%d envelopes, %d other events", sealed, others)
	}
}

// TestAnEventThatCannotBeDecodedHidesNoFindingBefore has an entry that no rule writes, and one of another task that cannot be decoded after it, or before.
func TestAnEventThatCannotBeDecodedHidesNoFindingBefore(t *testing.T) {
	t.Parallel()
	list := change(written(t), confirmed, func(e *event.Moved) { e.Epoch = 9 })
	for _, at := range []int{ended, made} { // of the child
		r := write(t, list)
		r[at].Events[0] = ledger.Event{Name: "child-was-late", Version: 1, Data: []byte("{}")}
		found, err := taskorder.Check(t.Context(), r)
		if err != nil || len(found) < 2 || found[0].Position != confirmed+1 || found[1].Position != ledger.Position(at+1) || !strings.Contains(found[1].What, "child-was-late") { //nolint:gosec // a few
			t.Errorf("%v, %v", found, err)
		}
	}
}

// TestNoEventCrashesAnywhere: a record that was changed may have any event at any place.
func TestNoEventCrashesAnywhere(t *testing.T) {
	t.Parallel()
	list, tried := written(t), 0
	for at := range list {
		for _, e := range event.Events {
			for _, changed := range [][]entry{instead(list, at, list[at].task, e), also(list, at, entry{list[at].task, []event.Event{e}})} {
				if _, err := taskorder.Check(t.Context(), write(t, changed)); err != nil {
					t.Errorf("%s at %d: %v", e.EventName(), at, err)
				}
				tried++
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d records: the test proves little", tried)
	}
}
