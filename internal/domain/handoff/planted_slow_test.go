//go:build slow && !race

package handoff

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// A test of the test: rules with a bug planted in them must be caught by the random stories.

type plant struct {
	name   string
	caught string // by which complaint: a part of it
	rules  rules
}

// without drops events of a kind from every decision.
func without(drop func(event.Event) bool) rules {
	return changed(func(_ task.Task, events []event.Event) []event.Event {
		return slices.DeleteFunc(slices.Clone(events), drop)
	})
}

// trusting gives every progress, completion and request the identity or the epoch that the rules want to see.
func trusting(owner, epoch bool) rules {
	fix := func(t task.Task, by *identity.Principal, e *uint64) {
		if owner && t.Owner != "" {
			*by = agent(t.Owner)
		}
		if epoch {
			*e = t.Epoch
		}
	}
	return rules{fold: task.Fold, decide: func(t task.Task, c Command, now time.Time) ([]event.Event, error) {
		switch k := c.(type) {
		case Progress:
			fix(t, &k.By, &k.Epoch)
			c = k
		case Complete:
			fix(t, &k.By, &k.Epoch)
			c = k
		case Send:
			fix(t, &k.By, &k.Epoch)
			c = k
		}
		return Decide(t, c, now)
	}}
}

// pretending lets the rules look at a task that is not quite the real one.
func pretending(as func(task.Task) task.Task) rules {
	return rules{fold: task.Fold, decide: func(t task.Task, c Command, now time.Time) ([]event.Event, error) { return Decide(as(t), c, now) }}
}

var plants = []plant{
	{"the epoch is not checked", "epoch", trusting(false, true)},
	{"the owner is not checked", "the owner is", trusting(true, false)},
	{"a move starts no lease", "has no lease", each(func(_ task.Task, e event.Event) event.Event {
		if m, ok := e.(event.Moved); ok {
			m.Lease = time.Time{}
			return m
		}
		return e
	})},
	{"a move does not raise the epoch", "ownership moved without", each(func(t task.Task, e event.Event) event.Event {
		if m, ok := e.(event.Moved); ok {
			m.Epoch = max(t.Epoch, 1)
			return m
		}
		return e
	})},
	{"a task comes back to an agent without a clock", "lost: task pending", each(func(_ task.Task, e event.Event) event.Event {
		if r, ok := e.(event.Returned); ok {
			r.TakeUpBy = time.Time{}
			return r
		}
		return e
	})},
	{"a closed ticket leaves a task without a clock", "lost: task pending", each(func(_ task.Task, e event.Event) event.Event {
		if k, ok := e.(event.TicketClosed); ok {
			k.TakeUpBy = time.Time{}
			return k
		}
		return e
	})},
	{"a replay to nobody starts no clock and tells nobody", "lost: task pending", each(func(_ task.Task, e event.Event) event.Event {
		if r, ok := e.(event.Replayed); ok {
			r.TakeUpBy, r.Tell = time.Time{}, false
			return r
		}
		return e
	})},
	{"the confirm is forgotten", "ownership moved without", without(func(e event.Event) bool { _, ok := e.(event.Confirmed); return ok })},
	{"a return is forgotten", "", without(func(e event.Event) bool { _, ok := e.(event.Returned); return ok })},
	{"nobody parks what cannot go on", "", without(func(e event.Event) bool { _, ok := e.(event.ParkedTask); return ok })},
	{"half of a decision is lost", "", changed(func(_ task.Task, events []event.Event) []event.Event { return events[:(len(events)+1)/2] })},
	{"anybody says that an owner is stuck", "is stuck", rules{fold: task.Fold, decide: func(t task.Task, c Command, now time.Time) ([]event.Event, error) {
		if k, ok := c.(Stuck); ok && k.By.Agent() != "" {
			k.Above = true
			c = k
		}
		return Decide(t, c, now)
	}}},
	{"anybody sheds offers", "shed an offer", rules{fold: task.Fold, decide: func(t task.Task, c Command, now time.Time) ([]event.Event, error) {
		if k, ok := c.(Shed); ok {
			k.By = system
			c = k
		}
		return Decide(t, c, now)
	}}},
	{"a shed offer stays with nobody", "no receiver or no clock", changed(func(_ task.Task, events []event.Event) []event.Event {
		if i := slices.IndexFunc(events, func(e event.Event) bool { _, ok := e.(event.OfferShed); return ok }); i >= 0 {
			return events[:i+1]
		}
		return events
	})},
	{"a chain starts over with each handoff", "took the task from level", rules{decide: Decide, fold: func(t task.Task, e event.Event) task.Task {
		at := t.Chain
		t = task.Fold(t, e)
		if _, ok := e.(event.HandoffRequested); ok && at.Level > 0 {
			t.Chain.Level = 0
		}
		return t
	}}},
	{"a second transfer starts", "handoff", rules{fold: task.Fold, decide: func(t task.Task, c Command, now time.Time) ([]event.Event, error) {
		if _, request := c.(Send); request && t.State == event.HandingOff && t.Owner != "" {
			t.State, t.Handoff = event.Executing, &task.Handoff{N: t.Handoff.N, Stage: event.Expired}
		}
		return Decide(t, c, now)
	}}},
	{"hops have no limit", "used", pretending(func(t task.Task) task.Task { t.Used.Hops = 0; return t })},
	{"requests have no limit", "", pretending(func(t task.Task) task.Task { t.Used.Handoffs = 0; return t })},
	{"recoveries have no limit", "", pretending(func(t task.Task) task.Task { t.Used.Attempts = 0; return t })},
	{"the escalation chain has no limit", "used", pretending(func(t task.Task) task.Task { t.Used.Escalations = -9; return t })},
	{"visits have no limit", "visited", pretending(func(t task.Task) task.Task { t.Limits.Visits = 1000; return t })},
	{"the tick does nothing", "the timer spins", rules{fold: task.Fold, decide: func(t task.Task, c Command, now time.Time) ([]event.Event, error) {
		if _, ok := c.(Tick); ok && t.State == event.Executing {
			return nil, nil
		}
		return Decide(t, c, now)
	}}},
	{"the tick comes early", "a tick at", rules{fold: task.Fold, decide: func(t task.Task, c Command, now time.Time) ([]event.Event, error) {
		if _, ok := c.(Tick); ok {
			now = now.Add(time.Minute)
		}
		return Decide(t, c, now)
	}}},
	{"a retry is scheduled for now", "do not come to rest", rules{
		decide: func(t task.Task, c Command, now time.Time) ([]event.Event, error) {
			events, err := Decide(t, c, now)
			if len(events) > 0 {
				if _, ok := events[0].(event.LeaseRenewed); ok || t.State == event.Executing && t.Due().Before(now) {
					return []event.Event{event.LeaseRenewed{Lease: now}}, nil
				}
			}
			return events, err
		}, fold: task.Fold,
	}},
	{"constraints are replaced", "constraint {", pretending(func(t task.Task) task.Task { t.Constraints = nil; return t })},
	{"lifting what one tightened lifts all limits", "below what its setter asked for", each(func(_ task.Task, e event.Event) event.Event {
		if l, ok := e.(event.Lifted); ok && l.TightenedBy != "" {
			l.After.Hard, l.After.Max, l.After.Allow = false, nil, nil
			return l
		}
		return e
	})},
	{"permissions are not compared", "ermissions", pretending(func(t task.Task) task.Task { t.Permissions = nil; return t })},
	{"children are not funded", "children get", pretending(func(t task.Task) task.Task { t.Spent, t.Reserved = event.Budget{}, event.Budget{}; return t })},
	{"any number of tasks comes of one", "tasks:", pretending(func(t task.Task) task.Task { t.Used.Tasks = 0; return t })},
	{"a replay forgets the tasks that have come", "tasks:", rules{decide: Decide, fold: func(t task.Task, e event.Event) task.Task {
		t = task.Fold(t, e)
		if _, ok := e.(event.Replayed); ok {
			t.Used.Tasks = 0
		}
		return t
	}}},
	{"a child gives back more than it had", "may make", each(func(_ task.Task, e event.Event) event.Event {
		if c, ok := e.(event.ChildEnded); ok && c.State.Final() {
			c.Tasks = -2
			return c
		}
		return e
	})},
	{"what is over goes on", "", pretending(func(t task.Task) task.Task {
		if t.State == event.Completed {
			t.State = event.Executing
		}
		return t
	})},
	{"the fold forgets who owns it", "", rules{decide: Decide, fold: func(t task.Task, e event.Event) task.Task {
		t = task.Fold(t, e)
		if _, ok := e.(event.ParkedTask); ok {
			t.Owner = ""
		}
		return t
	}}},
	{"an envelope is packed again", "packed was", pretending(func(t task.Task) task.Task {
		if t.Handoff != nil {
			h := *t.Handoff
			h.Rendition, t.Handoff = "", &h
		}
		return t
	})},
	{"an old rendition goes along with a new offer", "packed for another", rules{decide: Decide, fold: func(t task.Task, e event.Event) task.Task {
		var old string
		if _, ok := e.(event.OfferMade); ok && t.Handoff != nil {
			old = t.Handoff.Rendition
		}
		if t = task.Fold(t, e); old != "" {
			t.Handoff.Rendition = old
		}
		return t
	}}},
	{"what the owner was given is forgotten", "holds", rules{decide: Decide, fold: func(t task.Task, e event.Event) task.Task {
		t = task.Fold(t, e)
		if _, ok := e.(event.Moved); ok {
			t.Held = ""
		}
		return t
	}}},
	{"anybody answers", "saw to", rules{fold: task.Fold, decide: func(t task.Task, c Command, now time.Time) ([]event.Event, error) {
		if a, ok := c.(Answer); ok && t.Ticket != nil {
			a.Serves = []string{t.Ticket.Desk}
			c = a
		}
		return Decide(t, c, now)
	}}},
	{"two take it", "took what", rules{fold: task.Fold, decide: func(t task.Task, c Command, now time.Time) ([]event.Event, error) {
		if _, claim := c.(Claim); claim && t.InPerson() != nil && t.State == event.Executing {
			free := *t.Ticket
			free.State, free.ClaimedBy, t.Ticket = event.TicketStateOpen, "", &free
		}
		return Decide(t, c, now)
	}}},
	{"a ticket outlives its task", "a ticket is open", rules{decide: Decide, fold: func(t task.Task, e event.Event) task.Task {
		k := t.OpenTicket()
		t = task.Fold(t, e)
		if _, cancelled := e.(event.Called); cancelled && k != nil {
			t.Ticket = k
		}
		return t
	}}},
	{"a question is forgotten", "waiting for nobody", rules{decide: Decide, fold: func(t task.Task, e event.Event) task.Task {
		t = task.Fold(t, e)
		if _, opened := e.(event.TicketOpened); opened {
			t.Ticket = nil
		}
		return t
	}}},
	{"nobody's time ever ends", "the timer spins", rules{fold: task.Fold, decide: func(t task.Task, c Command, now time.Time) ([]event.Event, error) {
		if _, tick := c.(Tick); tick && t.AtDesk() != nil {
			return nil, nil
		}
		return Decide(t, c, now)
	}}},
	{"a refusal has no hint", "without a known code", rules{fold: task.Fold, decide: func(t task.Task, c Command, now time.Time) ([]event.Event, error) {
		events, err := Decide(t, c, now)
		if err != nil {
			err = refusal.New(refusal.Conflict, "", "no")
		}
		return events, err
	}}},
}

func TestPlantedBugsAreCaught(t *testing.T) {
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for range sequences {
				seeds := make([]uint64, 20+r.IntN(41))
				for i := range seeds {
					seeds[i] = r.Uint64()
				}
				if err := run(p.rules, seeds, nil); err != nil {
					complaint, _, _ := strings.Cut(err.Error(), "\n")
					if !strings.Contains(complaint, p.caught) {
						t.Errorf("caught by %q, want a word of %q", complaint, p.caught)
					}
					t.Log(complaint)
					return
				}
			}
			t.Errorf("not caught by %d random stories", sequences)
		})
	}
}
