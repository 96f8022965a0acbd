package scenario

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/trapezehq/trapeze/internal/usecase/agents"
)

// at reads where a task is, and whom it is offered to.
func (w *town) at(task string) (state, stage, to string) {
	w.Helper()
	got := w.task(task)
	if got.Handoff == nil {
		return string(got.State), "", ""
	}
	return string(got.State), string(got.Handoff.Stage), strings.Join(got.Handoff.To, " ")
}

// An agent that comes late to open claims gets no more of a sender than may wait for it.
func TestClaimsThatAnAgentJoinsCountAsOffersOfTheirSender(t *testing.T) {
	embedded(t)
	inTown(t, func(w *town) {
		w.register("digger", agents.AgentSpec{Capabilities: []string{"dig"}})
		w.register("sawyer", agents.AgentSpec{Capabilities: []string{"saw"}})
		for _, can := range []string{"dig", "saw"} {
			for range townOffers {
				w.must("lead", "POST /v1/tasks", `{"intent":"who can","send":{"capability":"`+can+`","kind":"broadcast"}}`, nil)
			}
		}
		w.register("late", agents.AgentSpec{Capabilities: []string{"dig", "saw"}})
		w.admit("late")
		synctest.Wait()
		var page struct{ Items []struct{ ID string } }
		w.must("late", "GET /v1/inbox?limit=500", "", &page)
		if len(page.Items) != townOffers {
			t.Errorf("%d offers wait for it, at most %d of one sender may", len(page.Items), townOffers)
		}
	}, "lead")
}
