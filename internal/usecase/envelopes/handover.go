package envelopes

import (
	"cmp"
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Handover seals what the next owner needs where the present one writes nothing: the last envelope, brought up to
// date with progress. by is the principal whose words the detail is; empty: the server.
func (s *Sealer) Handover(ctx context.Context, workspace string, t task.Task, to, by string, reason event.Reason, detail string, now time.Time) (
	event.Sealed, envelope.Envelope, error,
) {
	h := envelope.Header{
		HandoffID: t.NextHandoffID(), From: event.Bare(t.Source()), By: notSender(t, by), Reason: reason, Detail: detail, Kind: event.Warm, TimeoutSeconds: Seconds(t.Times.Ack),
	}
	if to != "" {
		h.To = []string{to}
	}
	return s.Compose(ctx, caller.System(workspace, "courier"), t, h, Content{}, now)
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
