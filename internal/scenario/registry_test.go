package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/roster"
	"github.com/trapezehq/trapeze/internal/view"
)

// registering is a registration that must be refused as invalid.
func (h *house) registering(name string, spec roster.AgentSpec) string {
	h.Helper()
	_, err := call(h.operator(), func(c app.Caller) (roster.Agent, error) {
		return h.app.Register(ctx(h), c, roster.RegisterInput{Name: name, Spec: spec})
	})
	if refusal.CodeOf(err) != refusal.Invalid {
		h.Fatalf("%s: %v", name, err)
	}
	return err.Error()
}

func TestEscalationThatLeadsBackIsRefused(t *testing.T) {
	story(t, func(h *house) {
		h.register("ann", roster.AgentSpec{Escalation: []string{"boss", "chief"}}) // who need not be there yet
		h.register("boss", roster.AgentSpec{Escalation: []string{"chair"}})
		if text := h.registering("chief", roster.AgentSpec{Escalation: []string{"ann"}}); !strings.Contains(text, "chief → ann → chief") {
			h.Error(text)
		}
		if text := h.registering("chair", roster.AgentSpec{Escalation: []string{"dee", "ann"}}); !strings.Contains(text, "chair → ann → boss → chair") {
			h.Error(text)
		}
		h.register("boss", roster.AgentSpec{})
		h.register("chair", roster.AgentSpec{Escalation: []string{"dee", "ann"}})
		h.register("chair", roster.AgentSpec{Escalation: []string{"dee", "ann"}}) // again
	})
}

func TestTwoStandInForEachOtherAndATaskDoesNotGoRound(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead")
		h.register("ann", roster.AgentSpec{Fallbacks: []string{"bob"}})
		h.register("bob", roster.AgentSpec{Fallbacks: []string{"ann"}})
		h.ready("ann", registry.Busy)
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "one", Send: &app.SendInput{To: []string{"ann"}}})
		if !slices.Equal(r.To, []string{"bob"}) {
			h.Errorf("%+v", r)
		}
		h.ready("bob", registry.Busy)
		if _, err := call(h.agent("lead"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Create(ctx(h), c, app.CreateInput{Intent: "two", Send: &app.SendInput{To: []string{"ann"}}})
		}); refusal.CodeOf(err) != refusal.Unavailable {
			h.Errorf("%v", err)
		}
		h.ready("ann", registry.Ready)
		h.ready("bob", registry.Ready)
		h.accept("bob", h.wait("bob")) // and shows no life, and neither does whoever gets it then
		owners := 0
		for range 8 {
			var now docket.Task
			h.until(r.Task, "in recovery or over", func(t docket.Task) bool {
				now = t
				return t.State == fact.Parked || t.InFlight() != nil
			})
			if now.State == fact.Parked {
				break
			}
			next := now.Handoff.To[0]
			h.accept(next, h.waitFor(next, func(i view.Item) bool { return i.Type == view.ItemOffer && i.Task == r.Task }))
			owners++
		}
		if now := h.task(r.Task); now.State != fact.Parked || owners != now.Limits.Attempts {
			h.Errorf("%s after %d owners", now.State, owners)
		}
	})
}

func TestAPersonIsGivenTime(t *testing.T) {
	story(t, func(h *house) {
		h.join("coder")
		h.register("dora", roster.AgentSpec{Kind: registry.KindHuman, Capabilities: []string{"contracts"}})
		r := h.create(h.agent("coder"), app.CreateInput{Intent: "may we sign this?", Start: true})
		h.send(h.agent("coder"), r, app.SendInput{To: []string{"dora"}})
		item := h.wait("dora")     // who has seen it now
		time.Sleep(20 * time.Hour) // and sleeps on it
		a := h.accept("dora", item)
		time.Sleep(20 * time.Hour)
		if got := h.task(r.Task); got.Owner != "dora" || got.State != fact.Executing {
			h.Fatalf("%s, %s", got.Owner, got.State)
		}
		h.complete("dora", a.Receipt, "no")
		if s := h.standing("dora"); s.Circuit.Failures > 0 {
			h.Errorf("a person's circuit: %+v", s.Circuit)
		}
	})
}
