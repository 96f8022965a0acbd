package tasks

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// ApproveInput says yes: to a supervised handoff, by its id or its ticket's, as its approver; or to a takeover request, as
// the task's source.
type ApproveInput struct {
	ID     string `json:"id,omitempty" doc:"Of the handoff, of its ticket, or of the takeover request."`
	Epoch  uint64 `json:"epoch,omitempty" doc:"For a takeover request: the task's epoch as you know it."`
	Digest string `json:"digest,omitempty" doc:"For a handoff: of the envelope that you looked at, as its content or its ticket gives it; refused if it carries another, or if constraints have changed since."`
	Detail string `json:"detail,omitempty" doc:"In words. The receiver reads them."`
}

// Approve lets a supervised handoff go on to its receivers, or gives a task to the agent that asked for it.
func (ts *Tasks) Approve(ctx context.Context, c caller.Caller, in ApproveInput) (taskstore.Receipt, error) {
	if task, n, err := event.ParseTakeoverID(in.ID); err == nil {
		return ts.approveTakeover(ctx, c, task, n, in)
	}
	approve := func(t task.Task, n int, now time.Time) ([]event.Event, error) {
		current, err := ts.sealer.Current(ctx, c.Workspace, t, in.Digest)
		if err != nil {
			return nil, err
		}
		return ts.routes.OfferNext(ctx, c.Workspace, t, now, func(hints handoff.Hints) handoff.Command {
			return handoff.Approve{By: c.Principal, Handoff: n, Digest: in.Digest, Current: current, Detail: in.Detail, Hints: hints}
		})
	}
	if strings.Contains(in.ID, ".k") {
		return ts.tickets.Approve(ctx, c, in.ID, in, approve)
	}
	taskID, n, err := event.ParseHandoffID(in.ID)
	if err != nil {
		return taskstore.Receipt{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "approve", in.ID, err)
	}
	return ts.store.ChangeWith(ctx, c, "approve", taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) { return approve(t, n, now) })
}

func (ts *Tasks) approveTakeover(ctx context.Context, c caller.Caller, taskID string, n int, in ApproveInput) (taskstore.Receipt, error) {
	return ts.store.ChangeWith(ctx, c, "approve", taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		cmd := handoff.ApproveTakeover{By: c.Principal, Epoch: in.Epoch, Takeover: n, Detail: in.Detail}
		i := slices.IndexFunc(t.Takeovers, func(ask task.TakeoverRequest) bool { return ask.N == n })
		if i < 0 {
			return handoff.Decide(t, cmd, now)
		}
		ask := t.Takeovers[i]
		var doc envelope.Envelope
		var err error
		if cmd.Envelope, doc, err = ts.sealer.Grant(ctx, c, t, ask, in.Detail, now); err != nil {
			return nil, err
		}
		events, err := handoff.Decide(t, cmd, now)
		if err != nil {
			return nil, err
		}
		return ts.readable(ctx, c.Workspace, t, ask.By, cmd.Envelope, doc, events)
	})
}

// readable returns the events of a takeover, with what the sealed envelope takes for the agent; it refuses to move a task at once to an agent whose
// token budget is too small for what must survive of it.
func (ts *Tasks) readable(ctx context.Context, workspace string, t task.Task, agent string, sealed event.Sealed, doc envelope.Envelope, events []event.Event) ([]event.Event, error) {
	if !slices.ContainsFunc(events, func(e event.Event) bool { _, moved := e.(event.Moved); return moved }) {
		return events, nil
	}
	_, _, err := ts.sealer.Fitting(ctx, workspace, &sealed, doc, event.Named(agent), event.Pack{})
	for i, e := range events {
		if of, ok := e.(event.Sealed); ok && of.Digest == sealed.Digest {
			events[i] = sealed
		}
	}
	no, refused := refusal.As(err)
	if !refused || no.Code != refusal.Budget {
		return events, err
	}
	return nil, refusal.New(no.Code, "[register it with a larger context window](agent add .context_window), let an agent with more room [take the task over](takeover), or have it handed over with a shorter ask",
		"%s cannot read task %s: %s", agent, t.ID, no.Message).With("needed", no.Details["needed"]).With("budget", no.Details["budget"])
}
