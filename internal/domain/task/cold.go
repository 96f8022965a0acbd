package task

import (
	"cmp"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task/passage"
)

// onCold keeps the context of a task that is handed off cold: the envelope of the handoff has the description alone, for its receiver. It
// is the task's once the task has moved; if nobody takes it, the task is as it was.
func (t *Task) onCold(e event.HandoffRequested) {
	if e.Kind == event.Cold && t.asBefore(e.Envelope) {
		t.ownHandoff().Past = len(t.Past)
	}
}

// asBefore takes back that an envelope was sealed as the newest of the task, and reports whether it was the last thing that happened.
func (t *Task) asBefore(digest string) bool {
	b := t.Basis
	if b == nil || digest != t.Envelope {
		return false
	}
	t.Envelope, t.AskedIn, t.Past, t.Answers, t.Dropped = b.Envelope, b.AskedIn, b.Past, b.Answers, b.Dropped
	return true
}

// askedElsewhere keeps what is asked of the owner: the envelope that was just sealed asks something of others.
func (t *Task) askedElsewhere(digest string) {
	if t.Basis != nil && t.Envelope == digest {
		t.AskedIn = t.Basis.AskedIn
	}
}

// OwnEnvelope is the digest of the newest envelope that was made for an owner of the task, and not for the reader of a share or for those that do parts
// of it; empty if there is none. Of a task that has only been delegated it is what was delegated.
func OwnEnvelope(t *Task) string {
	if t.AskedIn == "" && slices.ContainsFunc(t.Shares, func(s Share) bool { return s.Envelope == t.Envelope }) {
		return ""
	}
	return cmp.Or(t.AskedIn, t.Envelope)
}

// dropContext forgets, of a task that a cold handoff has moved, what the next envelope would say of the time before it.
func (t *Task) dropContext(h *Handoff) {
	if h.Kind == event.Cold {
		t.Answers, t.Past = nil, slices.DeleteFunc(slices.Clone(t.Past[min(h.Past, len(t.Past)):]), func(p passage.Passage) bool { return p.Kind == passage.DelegationEnded })
		t.Dropped = passage.Dropped{}
		t.Withheld = Withheld{Children: len(t.Children), Note: t.Progress != ""}
		if k := t.Ticket; k != nil {
			t.Withheld.Tickets = k.N
			if k.State != event.TicketStateClosed { // it is about what follows
				t.Withheld.Tickets--
			}
		}
	}
}

// Withheld is what a task has from before its last cold handoff: those that read its whole past read that, its owners since do not.
type Withheld struct {
	Children int  // the results of so many children, the oldest
	Tickets  int  // those up to this number
	Note     bool // the newest progress note
}

// SinceCold is a task without what is withheld.
func SinceCold(t Task) Task {
	t.Children = slices.Clone(t.Children)
	for i := range t.Children[:min(t.Withheld.Children, len(t.Children))] {
		t.Children[i].Result, t.Children[i].Why = nil, ""
	}
	if t.Ticket != nil && t.Ticket.N <= t.Withheld.Tickets {
		t.Ticket = nil
	}
	if t.Withheld.Note {
		t.Progress = ""
	}
	return t
}
