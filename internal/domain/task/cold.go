package task

import "github.com/trapezehq/trapeze/internal/domain/event"

// Basis is what an envelope of a task is made of, besides what its sender adds: see the fields of [Task].
type Basis struct {
	Envelope string
	AskedIn  string
	Past     []Passage
	Answers  []Answer
}

func (t *Task) onSealed(e event.Sealed) {
	if t.Envelope == "" && t.Handoff == nil {
		t.Trace = e.Trace
	}
	t.Basis = &Basis{Envelope: t.Envelope, AskedIn: t.AskedIn, Past: t.Past, Answers: t.Answers}
	t.Envelope, t.AskedIn, t.Answers = e.Digest, e.Digest, nil // it has them
	t.sealed()
}

// onCold keeps the context of a task that is handed off cold: the envelope of the handoff has the description alone, for its receiver. It
// is the task's once the task has moved; if nobody takes it, the task is as it was.
func (t *Task) onCold(e event.HandoffRequested) {
	b := t.Basis
	if e.Kind != event.Cold || b == nil || e.Envelope != t.Envelope {
		return
	}
	t.Envelope, t.AskedIn, t.Past, t.Answers = b.Envelope, b.AskedIn, b.Past, b.Answers
	t.ownHandoff().Past = len(t.Past)
}

// askedElsewhere keeps what is asked of the owner: the envelope that was just sealed asks something of others.
func (t *Task) askedElsewhere(digest string) {
	if t.Basis != nil && t.Envelope == digest {
		t.AskedIn = t.Basis.AskedIn
	}
}

// dropContext forgets, of a task that a cold handoff has moved, what the next envelope would say of the time before it.
func (t *Task) dropContext(h *Handoff) {
	if h.Kind == event.Cold {
		t.Answers, t.Past = nil, t.Past[min(h.Past, len(t.Past)):]
	}
}
