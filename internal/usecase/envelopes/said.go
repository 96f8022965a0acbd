package envelopes

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Said is what a task's newest envelope says, with what a sender adds. What nobody says anew of its confidence stays.
func (s *Sealer) Said(ctx context.Context, workspace string, t task.Task, c Content) (envelope.Envelope, error) {
	doc, err := s.base(ctx, workspace, t, c.Base)
	confidence := doc.Confidence
	c.addTo(&doc)
	if doc.Confidence == nil {
		doc.Confidence = confidence
	}
	return doc, err
}

// Seconds is a timeout as envelopes have it.
func Seconds(d event.Duration) int {
	return min(int((time.Duration(d)+time.Second-1)/time.Second), envelope.MaxTimeoutSeconds)
}
