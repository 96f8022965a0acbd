//go:build slow || outside

package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestWhatIsAskedOfOthersIsNotAskedOfTheNextOwner(t *testing.T) {
	for _, between := range []string{"share", "part", "part share", "share part part share"} {
		t.Run(between, func(t *testing.T) {
			story(t, func(h *harness) {
				h.join("ann", "bob", "eve", "kid", "dan")
				h.register("cyd", agents.AgentSpec{Fallbacks: []string{"dan"}})
				begin := func() taskstore.Receipt {
					r := h.create(h.agent("ann"), tasks.CreateInput{
						Intent: "ship the case", Start: true, Content: envelopes.Content{Ask: "Plan it."}, Timeouts: event.Timeouts{Lease: event.Duration(time.Hour)},
					})
					h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"cyd"}, Content: envelopes.Content{Ask: "Translate the waybill."}})
					r = h.acceptPrompt("cyd").Receipt
					for _, step := range strings.Fields(between) {
						if step == "share" {
							h.share(h.agent("cyd"), r, tasks.ShareInput{To: "eve", Content: envelopes.Content{Ask: "Only read."}})
							continue
						}
						h.send(h.agent("cyd"), r, handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "Measure the beams."}})
						h.complete("kid", h.acceptPrompt("kid").Receipt, "Nine by twelve.")
						h.inState(r.Task, event.Executing)
					}
					return r
				}
				asked := func(way, prompt string) {
					_, rest, _ := strings.Cut(prompt, "## Your part, by `ann`\n```\n")
					if ask, _, _ := strings.Cut(rest, "\n"); ask != "Translate the waybill." {
						h.Errorf("by a %s the receiver is asked %q:\n%s", way, ask, prompt)
					}
				}
				h.send(h.agent("cyd"), begin(), handoffs.SendInput{To: []string{"bob"}})
				asked("handoff", h.acceptPrompt("bob").Content.Prompt)
				begin() // and cyd shows no life
				asked("recovery", h.acceptPrompt("dan").Content.Prompt)
			})
		})
	}
}
