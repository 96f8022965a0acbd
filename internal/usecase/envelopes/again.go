package envelopes

import (
	"cmp"
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
	notes := notedBy(first.Handoff, h)
	first = next(first, t.Envelope)
	base.Task.Ask, base.TextBy.Ask = first.Task.Ask, first.TextBy.Ask
	c.Notes = cmp.Or(c.Notes, notes)
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

// notedBy is the notes of a handoff, for another: with the name of their author, if somebody else asks for that.
func notedBy(first, h envelope.Header) string {
	by := cmp.Or(first.By, event.Bare(first.From))
	if named := by + " noted: " + first.Notes; first.Notes != "" && by != cmp.Or(h.By, event.Bare(h.From)) && len(named) <= envelope.MaxText {
		return named
	}
	return first.Notes
}
