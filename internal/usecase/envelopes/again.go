package envelopes

import (
	"context"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// again is where the envelope of a handoff that is asked for again starts from, and what its sender adds: what the first one said. What was
// shared meanwhile is no part of it. One that was cold has its receiver's part alone; where it is asked for with the context, that is
// the task's.
func (s *Sealer) again(ctx context.Context, workspace string, t task.Task, h envelope.Header, base envelope.Envelope, c Content) (envelope.Envelope, Content, error) {
	first, err := s.store.Open(ctx, workspace, t.ID, c.Again)
	if err != nil {
		return base, c, err
	}
	first = next(first, t.Envelope)
	base.Task.Ask, base.TextBy.Ask = first.Task.Ask, first.TextBy.Ask
	if c.Notes == "" {
		c.Notes, c.NotesBy = first.Handoff.Notes, first.TextBy.Notes
	}
	if c.Confidence == nil {
		c.Confidence = first.Confidence
	}
	if c.ExpiresAt.IsZero() {
		c.ExpiresAt = first.ExpiresAt
	}
	if first.Handoff.Kind != event.Cold || h.Kind == event.Cold {
		base = first
	}
	return base, c, nil
}
