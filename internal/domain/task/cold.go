package task

import "github.com/trapezehq/trapeze/internal/domain/event"

// Basis is what an envelope of a task is made of, besides what its sender adds: see the fields of [Task].
type Basis struct {
	Envelope string
	Past     []Passage
	Answers  []Answer
}

func (t *Task) onSealed(e event.Sealed) {
	if t.Envelope == "" && t.Handoff == nil {
		t.Trace = e.Trace
	}
	t.Basis = &Basis{Envelope: t.Envelope, Past: t.Past, Answers: t.Answers}
	t.Envelope, t.Answers = e.Digest, nil // it has them
	t.sealed()
}

// onCold keeps the context of a task that is handed off cold: the envelope of the handoff has the description alone, for its receiver. It
// is the task's once the task has moved; if nobody takes it, the task is as it was.
func (t *Task) onCold(e event.HandoffRequested) {
	b := t.Basis
	if e.Kind != event.Cold || b == nil || e.Envelope != t.Envelope {
		return
	}
	t.Envelope, t.Past, t.Answers = b.Envelope, b.Past, b.Answers
	t.ownHandoff().Past = len(t.Past)
}

// dropContext forgets, of a task that a cold handoff has moved, what the next envelope would say of the time before it.
func (t *Task) dropContext(h *Handoff) {
	if h.Kind == event.Cold {
		t.Answers, t.Past = nil, t.Past[min(h.Past, len(t.Past)):]
	}
}
