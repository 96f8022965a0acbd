package task

import (
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Passage is what became of a task or of a child task, as the history in its next envelope tells it.
type Passage struct {
	At     time.Time // zero: the record does not say
	Kind   PassageKind
	By     string       // the former owner, the owner that delegated, the receiver of the child task, or the principal that replayed the task, lifted a constraint or approved a handoff
	To     string       // the new owner, the receiver of the child task, or the principal whose tightening alone was lifted
	Child  string       // the child task
	Rule   string       // the id of the constraint that was lifted, and
	Text   string       // its text, at most maxPassageRule bytes
	Reason event.Reason // of the handoff
	Asked  string       // the principal that asked for the handoff, and whose words the detail is, if it is not By; empty: By, or the server
	Detail string       // at most maxPassageDetail bytes
}

// PassageKind is the kind of a passage. The set is closed.
type PassageKind string

// The kinds of passages.
const (
	PassedOn        PassageKind = "handoff"     // By handed the task over to To
	TakenOver       PassageKind = "takeover"    // To got it without the doing of By: its owner was lost or stuck, or somebody else decided so
	Delegated       PassageKind = "delegation"  // By delegated a child task to To
	DelegationEnded PassageKind = "result"      // the child task of By has ended; see [Task.Children]
	FromTheDead     PassageKind = "dead-letter" // By replayed it from the dead letters
	RuleLifted      PassageKind = "lift"        // By lifted a constraint, or what To had tightened of it
	HandoffApproved PassageKind = "approval"    // By approved the handoff under way, and said something
)

// MaxPast is how many passages a task remembers since its newest envelope, maxPassageDetail the bytes of the words of one, and maxPassageRule those of the
// text of a constraint.
const (
	MaxPast          = 200
	maxPassageDetail = 300
	maxPassageRule   = 150
)

// passed adds a passage.
func (t *Task) passed(p Passage) {
	p.By, p.To = strings.TrimPrefix(p.By, "agent/"), strings.TrimPrefix(p.To, "agent/")
	p.Detail = refusal.Clip(p.Detail, maxPassageDetail)
	past := append(slices.Clip(t.Past), p)
	t.Past = past[max(0, len(past)-MaxPast):]
}

// sealed forgets what the envelope that was just sealed tells. While a handoff is under way, an envelope that is shared may not be
// the one that the next is made from.
func (t *Task) sealed() {
	if t.InFlight() == nil {
		t.Past = nil
	}
}

// passedOn is the passage of a change of owner by the newest handoff.
func (t *Task) passedOn(h *Handoff, e event.Moved) {
	p := Passage{At: e.At, Kind: PassedOn, By: e.From, To: e.To, Reason: h.Reason, Detail: h.Detail}
	if by := event.Bare(h.By); by != event.Bare(e.From) {
		p.Asked = by
	}
	if h.Recovery || h.Unasked {
		p.Kind = TakenOver
	}
	t.passed(p)
}

// liftedBy is the passage of a lift. Older records do not say who lifted.
func (t *Task) liftedBy(e event.Lifted) {
	if e.By == "" {
		return
	}
	p := Passage{At: e.At, Kind: RuleLifted, By: e.By, To: e.TightenedBy, Rule: e.ID, Detail: e.Why}
	if e.After.ID != "" {
		p.Detail = e.Constraint.Limits() + " → " + e.After.Limits() + ": " + e.Why
	}
	if p.Text = strings.Join(strings.Fields(e.Constraint.Text), " "); len(p.Text) > maxPassageRule {
		p.Text = refusal.Clip(p.Text, maxPassageRule) + " […]"
	}
	t.passed(p)
}
