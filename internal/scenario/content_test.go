package scenario

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// marked is content with a marker in every field that a prompt shows, and the markers.
func marked() (envelopes.Content, []string) {
	confidence := 0.25
	c := envelopes.Content{
		Ask: "MARK-ask", State: "MARK-state", Summary: "MARK-summary", Notes: "MARK-notes",
		Facts:     []envelopes.Point{{ID: "f1", Text: "MARK-fact"}},
		Decisions: []envelopes.Point{{ID: "d1", Text: "MARK-decision"}},
		Questions: []string{"MARK-question"},
		Steps:     []envelopes.Step{{Action: "MARK-action", Detail: "MARK-step"}},
		Data:      json.RawMessage(`{"MARK":"data"}`), Confidence: &confidence,
	}
	return c, []string{
		"MARK-ask", "MARK-state", "MARK-summary", "MARK-notes", "MARK-fact", "MARK-decision", "MARK-question", "MARK-action",
		"MARK-step", `{"MARK":"data"}`, "0.25", "MARK-why",
	}
}

func TestEveryFieldOfTheContentReachesTheReceiverOfEveryKindOfHandoff(t *testing.T) {
	for name, in := range map[string]handoffs.SendInput{
		"warm":       {To: []string{"ann"}},
		"supervised": {To: []string{"ann"}, Kind: event.Supervised},
		"claim":      {To: []string{"ann", "bob"}, Kind: event.Broadcast},
		"fan-out":    {To: []string{"ann", "bob"}, Kind: event.Broadcast, FanOut: true},
		"delegation": {To: []string{"ann"}, Kind: event.Delegation},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(h *harness) {
				h.join("lead", "ann", "bob")
				var want []string
				in.Content, want = marked()
				in.Detail = "MARK-why"
				r := h.send(h.agent("lead"), h.create(h.agent("lead"), tasks.CreateInput{Intent: "MARK-intent", Start: true}), in)
				if in.Kind == event.Supervised {
					ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
						return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: r.Handoff})
					})
				}
				item := h.wait("ann")
				got := ok(h, h.agent("ann"), func(c caller.Caller) (tasks.Accepted, error) {
					return h.app.Tasks.Accept(ctx(h), c, tasks.AcceptInput{Handoff: item.ID, Render: true})
				})
				for _, mark := range append(want, "MARK-intent") {
					if !strings.Contains(got.Content.Prompt, mark) {
						h.Errorf("the prompt lacks %s", mark)
					}
				}
				if h.Failed() {
					h.Log(got.Content.Prompt)
				}
			})
		})
	}
}
