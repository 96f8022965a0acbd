//go:build slow || outside

package scenario

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// TestASenderThatIsTooLateIsToldThatFirst: of two sends at once one is decided on what the other has made of the task. "Unavailable, try again later" would have its
// sender repeat for ever what it may never do again.
func TestASenderThatIsTooLateIsToldThatFirst(t *testing.T) {
	story(t, func(h *harness) {
		h.join("anna", "bert")
		point := envelopes.Content{Decisions: []envelopes.Point{{ID: "way", Text: "north"}}}
		r := h.create(h.agent("anna"), tasks.CreateInput{Intent: "go", Start: true})
		h.send(h.agent("anna"), r, handoffs.SendInput{To: []string{"bert"}, Content: point})
		late := func(want, shared refusal.Code) {
			h.Helper()
			_, err := known(h, h.agent("anna"), h.app.Tasks.Escalate, tasks.EscalateInput{Task: r.Task, Epoch: r.Epoch})
			if refusal.CodeOf(err) != want {
				h.Errorf("up a chain that is not there: %v, want %s", err, want)
			}
			_, err = known(h, h.agent("anna"), h.app.Tasks.Share, tasks.ShareInput{Task: r.Task, Epoch: r.Epoch, To: "bart"})
			if refusal.CodeOf(err) != shared {
				h.Errorf("shared with nobody: %v, want %s", err, shared)
			}
			for what, in := range map[string]handoffs.SendInput{
				"to its next owner":       {To: []string{"bert"}},
				"to nobody's name":        {To: []string{"bart"}},
				"to nobody's capability":  {Capability: "sailing"},
				"along a route that ends": {},
				"to an empty channel":     {Channel: "sea"},
				"to people":               {To: []string{"human:harbour"}},
				"a part":                  {To: []string{"bert"}, Kind: "delegation"},
				"with what was said":      {To: []string{"bert"}, Content: envelopes.Content{Decisions: []envelopes.Point{{ID: "way", Text: "south"}}}},
			} {
				in.Task, in.Epoch = r.Task, r.Epoch
				_, err := known(h, h.agent("anna"), h.app.Tasks.Send, in)
				if refusal.CodeOf(err) != want {
					h.Errorf("%s: %v, want %s", what, err, want)
				}
			}
		}
		late(refusal.Conflict, refusal.NotFound) // the first is under way
		ok(h, h.agent("anna"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Cancel(ctx(h), c, tasks.CancelInput{ID: event.HandoffID(r.Task, 1), Epoch: r.Epoch})
		})
		h.send(h.agent("anna"), r, handoffs.SendInput{To: []string{"bert"}, Content: point})
		_, err := known(h, h.agent("anna"), h.app.Tasks.Confirm, tasks.ConfirmInput{Handoff: event.HandoffID(r.Task, 1), Epoch: r.Epoch, Content: envelopes.Content{
			Artifacts: []envelopes.Artifact{{Digest: "sha256:" + strings.Repeat("0", 64)}},
		}})
		if refusal.CodeOf(err) != refusal.Expired {
			h.Errorf("the confirmation of a handoff that was withdrawn, with a file that is not there: %v", err)
		}
		h.accept("bert", h.wait("bert"))
		late(refusal.NotOwner, refusal.NotOwner)
	})
}
