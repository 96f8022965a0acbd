package scenario

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// frontEnds tells a story of front ends of one record, of which the first has the turn, each with views and caches of its own that follow what the others append.
func frontEnds(t *testing.T, n int, tell func(first *harness, all []*harness)) {
	synctest.Test(t, func(t *testing.T) {
		record := ledgertest.NewDouble(ledgertest.Faults{Lag: 5 * time.Millisecond})
		var all []*harness
		for i := range n {
			h := &harness{TB: t}
			current := stream.NewCurrent(record.Last)
			learner := sharedrecord.NewLearner(record, current.Told)
			var err error
			if h.views, err = sqlview.Follow(context.Background(), learner, ""); err != nil {
				h.Fatal(err)
			}
			h.ledger = sharedrecord.NewVisible(record, h.views, current.Last)
			if h.app, err = usecase.New(h.ledger, h.views.Store(), usecase.Options{Current: current, MaxWaiting: townOffers}); err != nil {
				h.Fatal(err)
			}
			learner.Tell(h.app.Learn)
			all = append(all, h)
			if h.stop = func() { _ = h.views.Close() }; i == 0 {
				h.courier()
			}
		}
		tell(all[0], all)
		for i := range all {
			all[n-1-i].stop()
		}
	})
}

// showing is what an agent was shown that waited at a front end.
type showing struct {
	at    *harness
	agent string
	what  string
	first view.Item
	when  time.Time
}

// waitAt has an agent wait at a front end, and returns when it does.
func waitAt(h *harness, name string, told chan<- showing) {
	go func() {
		box, err := h.app.Tasks.Inbox(ctx(h), h.agent(name), tasks.InboxInput{Wait: tasks.MaxWait})
		if err != nil || len(box.Items) == 0 {
			h.Errorf("%s waits for ever: %+v, %v", name, box, err)
			box.Items = make([]view.Item, 1)
		}
		told <- showing{h, name, intents(box), box.Items[0], time.Now()}
	}()
	synctest.Wait()
}

// comes is the agents that are shown something next, one at each of three front ends, at once or a second later.
func comes(h *harness, told <-chan showing, what string, since time.Time, later time.Duration) (all []showing) {
	h.Helper()
	at := map[*harness]bool{}
	for range 3 {
		s := <-told
		if took := s.when.Sub(since); s.what != what || at[s.at] || took < later || took > later+200*time.Millisecond {
			h.Errorf("%s is shown %q after %s, want %q", s.agent, s.what, took, what)
		}
		at[s.at], all = true, append(all, s)
	}
	return all
}

// Front ends do not tell each other which claims they have just shown: each shows a claim to one of those that wait there, wherever it was sent from.
func TestAClaimIsShownAtOnceToOneThatWaitsAtEachFrontEndAndOneGetsIt(t *testing.T) {
	frontEnds(t, 3, func(h *harness, all []*harness) {
		names := []string{"ann", "bob", "cyd", "dan", "eve", "fay"} // two at each
		h.join(append(names, "lead")...)
		told := make(chan showing, len(names))
		for i, name := range names {
			at := all[i%len(all)]
			at.settle()
			waitAt(at, name, told)
		}
		claim := func(at *harness, intent string) time.Time {
			since := time.Now()
			at.create(at.agent("lead"), tasks.CreateInput{Intent: intent, Send: &handoffs.SendInput{Kind: event.Broadcast, To: names}})
			return since
		}
		took := map[string]string{}
		race := func(of []showing) {
			for _, s := range of {
				_, err := call(s.at.agent(s.agent), func(c caller.Caller) (tasks.Accepted, error) {
					return s.at.app.Tasks.Accept(ctx(h), c, tasks.AcceptInput{Handoff: s.first.ID, Offer: s.first.Offer})
				})
				switch {
				case err == nil && took[s.what] == "":
					took[s.what] = s.agent
				case refusal.CodeOf(err) != refusal.Expired:
					h.Errorf("%s took %s, and %s tries: %v", took[s.what], s.what, s.agent, err)
				}
			}
		}
		race(comes(h, told, "dig", claim(all[1], "dig"), 0))
		since := claim(all[2], "fill")
		late := comes(h, told, "fill", since, 0)
		for _, s := range late {
			waitAt(s.at, names[(slices.Index(names, s.agent)+3)%len(names)], told) // the other one there
		}
		race(comes(h, told, "fill", since, time.Second)) // those who were shown it did not take it
		if len(took) != 2 {
			h.Errorf("taken by %v", took)
		}
	})
}
