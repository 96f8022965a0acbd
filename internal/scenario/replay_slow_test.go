//go:build slow || outside

package scenario

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestAReplayedChannelClaimIsOneForWhoSubscribesNow(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "bob", "cyd")
		h.channel("roofs", "bob")
		r := h.publish("roofs", lost(handoffs.SendInput{}))
		h.inState(r.Task, event.Parked)
		h.subscribe("roofs", "cyd")
		h.replay(tasks.ReplayInput{Task: r.Task})
		if now := h.task(r.Task).Handoff; now.Kind != event.Broadcast || !now.Claim || now.Channel != "roofs" {
			h.Errorf("a claim again: %+v", now)
		}
		h.of(r.Task, "bob")
		if got := h.accept("cyd", h.of(r.Task, "cyd")); got.Owner != "cyd" {
			h.Errorf("claimed: %+v", got.Receipt)
		}
	})
}

func TestAReplayedHandoffIsSupervisedAgainAndNobodyApprovesTheirOwn(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true})
		sent := h.send(h.operator(), r, lost(handoffs.SendInput{To: []string{"bob"}, Kind: event.Supervised}))
		ada := h.as(h.operator().Role, "ada")
		approve := func(by caller.Caller, id string) error {
			_, err := call(by, func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: id})
			})
			return err
		}
		if err := approve(ada, sent.Handoff); err != nil {
			h.Fatal(err)
		}
		h.inState(r.Task, event.Parked)
		again := ok(h, ada, func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Replay(ctx(h), c, tasks.ReplayInput{Task: r.Task})
		})
		if again.Stage != event.AwaitingApproval {
			h.Errorf("replayed: %+v", again)
		}
		if err := approve(h.operator(), again.Handoff); refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("ann approves what she asked for: %v", err)
		}
		if err := approve(ada, again.Handoff); err != nil {
			h.Error(err)
		}
		h.accept("bob", h.wait("bob"))
	})
}
