package envelopes

import (
	"cmp"
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Handover seals what the next owner needs where the present one writes nothing: the last envelope, brought up to
// date with progress. by is the principal whose words the detail is; empty: the server.
func (s *Sealer) Handover(ctx context.Context, workspace string, t task.Task, to, by string, reason event.Reason, detail string, now time.Time) (
	event.Sealed, envelope.Envelope, error,
) {
	doc, err := s.Draft(ctx, caller.System(workspace, "courier"), t, handover(t, to, by, reason, detail), Content{}, now)
	if err != nil {
		return event.Sealed{}, doc, err
	}
	return s.sealSource(doc, ownRoom)
}

// handover is the header of a handoff for which the present owner writes nothing.
func handover(t task.Task, to, by string, reason event.Reason, detail string) envelope.Header {
	h := envelope.Header{
		HandoffID: t.NextHandoffID(), From: event.Bare(t.Source()), By: notSender(t, by), Reason: reason, Detail: detail, Kind: event.Warm, TimeoutSeconds: Seconds(t.Times.Ack),
	}
	if to != "" {
		h.To = []string{to}
	}
	return h
}

// Grant is [Sealer.Handover] for an agent that asked for the task. The caller grants it, and why is the reason; empty: none.
func (s *Sealer) Grant(ctx context.Context, c caller.Caller, t task.Task, ask task.TakeoverRequest, why string, now time.Time) (event.Sealed, envelope.Envelope, error) {
	h := handover(t, ask.By, ask.By, event.ReasonUserRequest, ask.Detail)
	doc, err := s.Draft(ctx, caller.System(c.Workspace, "courier"), t, h, Content{}, now)
	if err != nil {
		return event.Sealed{}, doc, err
	}
	if why != "" {
		tell(&doc, t, envelope.Step{Time: now, Agent: c.Short(), Action: "granted the takeover by " + ask.By, Detail: refusal.Clip(why, envelope.MaxItemText), Recorded: true})
	}
	return s.sealSource(doc, ownRoom)
}

// ToPerson seals what somebody needs who takes a task over from a desk. People read what they want of it.
func (s *Sealer) ToPerson(ctx context.Context, workspace string, t task.Task, to string, reason event.Reason, detail string, now time.Time) (event.Sealed, error) {
	sealed, _, err := s.Handover(ctx, workspace, t, to, "", reason, detail, now)
	return sealed, err
}

// AskedBy is the principal that asks for a handoff or a share of a task, as [envelope.Header] has it: the caller, or the one whose handoff is asked
// for again.
func AskedBy(c caller.Caller, again string, t task.Task) string {
	if again == "" && c.IsSystem() {
		return ""
	}
	return notSender(t, cmp.Or(again, c.String()))
}

// notSender is a principal as envelopes name it; empty if it is the sender.
func notSender(t task.Task, by string) string {
	if by = event.Bare(by); by == event.Bare(t.Source()) {
		return ""
	}
	return by
}

// Open is a sealed envelope of a task.
func (s *Sealer) Open(ctx context.Context, workspace, task, digest string) (envelope.Envelope, error) {
	return s.store.Open(ctx, workspace, task, digest)
}
