package task

import (
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task/passage"
)

// Basis is what an envelope of a task is made of, besides what its sender adds: see the fields of [Task].
type Basis struct {
	Envelope string
	AskedIn  string
	Past     []passage.Passage
	Answers  []Answer
	Dropped  passage.Dropped
}

func (t *Task) onSealed(e event.Sealed) {
	if t.Envelope == "" && t.Handoff == nil {
		t.Trace = e.Trace
	}
	t.Basis = &Basis{Envelope: t.Envelope, AskedIn: t.AskedIn, Past: t.Past, Answers: t.Answers, Dropped: t.Dropped}
	t.Envelope, t.AskedIn, t.Answers = e.Digest, e.Digest, nil // it has them
	t.sealed()
}
