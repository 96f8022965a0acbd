package task

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task/passage"
)

// MaxPast is how many passages a task remembers since its newest envelope.
const MaxPast = 200

// rejectedBy is the passage of a rejection that names what is missing: the next receiver reads it.
func (t *Task) rejectedBy(e event.RejectedOffer) {
	if len(e.Missing) == 0 {
		return
	}
	t.passed(passage.Passage{Kind: passage.ContextLacking, By: e.Agent, Detail: passage.Lacking(e.Missing, e.Detail)})
	t.markAmended()
}

// passed adds a passage.
func (t *Task) passed(p passage.Passage) {
	p.By, p.To = strings.TrimPrefix(p.By, "agent/"), strings.TrimPrefix(p.To, "agent/")
	p.Detail = p.Words()
	t.Past = passage.Newest(append(slices.Clip(t.Past), p), MaxPast, &t.Dropped.Past, &t.Dropped.ToldPast)
}

// sealed forgets what the envelope that was just sealed tells. While a handoff is under way, the receivers of its own envelope are told some
// of it, and an envelope that is shared is another.
func (t *Task) sealed() {
	if t.InFlight() == nil {
		t.Past = nil
	}
	t.Dropped = passage.Dropped{ToldNotes: len(t.Notes), ToldPast: len(t.Past)}
}

// passedOn is the passage of a change of owner by the newest handoff.
func (t *Task) passedOn(h *Handoff, e event.Moved) {
	p := passage.Passage{At: e.At, Kind: passage.PassedOn, By: e.From, To: e.To, Reason: h.Reason, Detail: h.Detail}
	if by := event.Bare(h.By); by != event.Bare(e.From) {
		p.Asked = by
	}
	if h.Recovery || h.Unasked {
		p.Kind = passage.TakenOver
	}
	t.passed(p)
}

// liftedBy is the passage of a lift. Older records do not say who lifted.
func (t *Task) liftedBy(e event.Lifted) {
	if e.By == "" {
		return
	}
	p := passage.Passage{At: e.At, Kind: passage.RuleLifted, By: e.By, To: e.TightenedBy, Rule: e.ID, Detail: e.Why}
	if e.After.ID != "" {
		p.Detail = e.Constraint.Limits() + " → " + e.After.Limits() + ": " + e.Why
	}
	p.Text = passage.RuleText(e.Constraint.Text)
	t.passed(p)
}
