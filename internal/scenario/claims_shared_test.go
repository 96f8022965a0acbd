package scenario

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// claims sends as many claims to ann, bob and cyd.
func (h *harness) claims(n int) {
	for i := range n {
		h.create(h.agent("lead"), tasks.CreateInput{Intent: fmt.Sprint(i), Send: &handoffs.SendInput{Kind: event.Broadcast, To: []string{"ann", "bob", "cyd"}}})
	}
	h.settle()
}

// waits is what an agent is shown that waits.
func (h *harness) waits(name string, in tasks.InboxInput) view.Inbox {
	return ok(h, h.agent(name), func(c caller.Caller) (view.Inbox, error) { return h.app.Tasks.Inbox(ctx(h), c, in) })
}

func intents(box view.Inbox) string {
	var list []string
	for _, i := range box.Items {
		list = append(list, i.Intent)
	}
	return strings.Join(list, " ")
}

// Of many that wait each is shown its share, so that they do not try to get the same claims.
func TestAnAgentThatWaitsIsShownItsShareOfTheClaims(t *testing.T) {
	bubble(t, sound(), func(h *harness) {
		h.join("lead", "ann", "bob", "cyd", "eve")
		h.claims(7)
		wait := tasks.InboxInput{Wait: tasks.MaxWait}
		other, leave := context.WithCancel(ctx(h))
		go func() { _, _ = h.app.Tasks.Inbox(other, h.agent("eve"), wait) }()
		time.Sleep(time.Second) // she waits
		for _, c := range []struct {
			who, want string
			in        tasks.InboxInput
		}{
			{"ann", "0 1 2 3", wait},
			{"bob", "4 5", wait},
			{"cyd", "6", wait},
			{"ann", "0 1 2 3", wait},
			{"cyd", "6 0 1 2 3 4 5", tasks.InboxInput{}}, // a look at the list
		} {
			box := h.waits(c.who, c.in)
			if intents(box) != c.want {
				h.Errorf("%s is shown %s, want %s", c.who, intents(box), c.want)
			}
			if rest := intents(h.waits(c.who, tasks.InboxInput{After: box.Next, Peek: true})); c.who == "ann" && rest != "4 5 6" {
				h.Errorf("ann is shown %s, and then %s", c.want, rest)
			}
		}
		leave()
	})
}

func TestAnAgentThatWaitsAloneIsShownAllClaims(t *testing.T) {
	bubble(t, sound(), func(h *harness) {
		h.join("lead", "ann", "bob", "cyd")
		h.claims(3)
		if got := intents(h.waits("ann", tasks.InboxInput{Wait: tasks.MaxWait})); got != "0 1 2" {
			h.Errorf("ann is shown %s", got)
		}
	})
}

// An agent that waits is not shown what another was just shown; but what that does not take, it gets a second later.
func TestAClaimThatOneDoesNotTakeIsShownToTheNextASecondLater(t *testing.T) {
	bubble(t, sound(), func(h *harness) {
		h.join("lead", "ann", "bob", "cyd")
		h.claims(1)
		wait, began := tasks.InboxInput{Wait: tasks.MaxWait}, time.Now()
		if got := intents(h.waits("ann", wait)); got != "0" || time.Since(began) >= time.Second {
			h.Errorf("ann is shown %q after %s", got, time.Since(began))
		}
		if got := intents(h.waits("bob", wait)); got != "0" || time.Since(began) < time.Second || time.Since(began) > 1100*time.Millisecond {
			h.Errorf("bob is shown %q after %s", got, time.Since(began))
		}
		a := h.accept("bob", h.waits("bob", wait).Items[0])
		h.complete("bob", a.Receipt, "done")
	})
}

// The share is by all that wait in the workspace. Those who cannot take the claims keep none from the one who can.
func TestTheOnlyOneThatWaitsForClaimsGetsOneAfterTheOtherAtOnce(t *testing.T) {
	bubble(t, sound(), func(h *harness) {
		others := []string{"dan", "eve", "fay", "gus", "hal"}
		h.join(append(others, "lead", "ann", "bob", "cyd")...)
		h.claims(7)
		wait := tasks.InboxInput{Wait: tasks.MaxWait}
		other, leave := context.WithCancel(ctx(h))
		for _, name := range others {
			go func() { _, _ = h.app.Tasks.Inbox(other, h.agent(name), wait) }()
		}
		time.Sleep(time.Second) // they wait
		began := time.Now()
		for range 7 {
			box := h.waits("ann", wait)
			h.complete("ann", h.accept("ann", box.Items[0]).Receipt, "done")
			if err := h.app.Positions.CatchUp(ctx(h)); err != nil { // as a server of several does before it answers
				h.Fatal(err)
			}
		}
		if took := time.Since(began); took > 100*time.Millisecond {
			h.Errorf("she has all after %s", took)
		}
		leave()
	})
}
