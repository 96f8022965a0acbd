package handoffs

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
)

// Foresee says what would stop a plain handoff of a task now, as far as it is known beforehand; "" if nothing would. Nothing changes: no probe of a circuit is
// claimed. Without a receiver, what would stop it for each.
func (h *Handoffs) Foresee(ctx context.Context, c caller.Caller, t task.Task, to string, content envelopes.Content, now time.Time) (string, error) {
	send := SendInput{Task: t.ID, Epoch: t.Epoch, Kind: event.Warm, Reason: event.ReasonUserRequest, Content: content}
	p := routes.Plan{Candidates: event.Named(routing.Auto)} // which no agent is called
	var err error
	if to != "" {
		send.To = []string{to}
		if err = h.identify(ctx, c.Workspace, &send); err == nil {
			p, err = h.plan(ctx, c, send, nil, t, now)
		}
	}
	var events []event.Event
	if err == nil {
		events, err = handoff.Decide(t, send.request(c, p, event.Sealed{Digest: "none yet", Parent: t.Envelope}), now)
	}
	if no, refused := refusal.As(err); refused {
		return no.Message, nil
	}
	if err != nil {
		return "", err
	}
	if stop, is := events[len(events)-1].(event.ParkedTask); is {
		return stop.Detail + ": the task would move to the dead letters", nil
	}
	return "", nil
}
