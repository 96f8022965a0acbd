package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/roster"
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

func TestStandInsThatLeadBackAreRefused(t *testing.T) {
	story(t, func(h *house) {
		h.register("ann", roster.AgentSpec{Fallbacks: []string{"bob"}, Escalation: []string{"boss", "chief"}}) // who need not be there yet
		h.register("bob", roster.AgentSpec{Fallbacks: []string{"cyd"}})
		if text := h.registering("cyd", roster.AgentSpec{Fallbacks: []string{"dee", "ann"}}); !strings.Contains(text, "cyd → ann → bob → cyd") {
			h.Error(text)
		}
		if text := h.registering("chief", roster.AgentSpec{Escalation: []string{"ann"}}); !strings.Contains(text, "chief → ann → chief") {
			h.Error(text)
		}
		h.register("chief", roster.AgentSpec{Fallbacks: []string{"ann"}}) // who escalates to it: another list, and no circle
		h.register("bob", roster.AgentSpec{})
		h.register("cyd", roster.AgentSpec{Fallbacks: []string{"dee", "ann"}})
		h.register("cyd", roster.AgentSpec{Fallbacks: []string{"dee", "ann"}}) // again
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
