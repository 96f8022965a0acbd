package passage

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Passage is what became of a task or of a child task, as the history in its next envelope tells it.
type Passage struct {
	At     time.Time // zero: the record does not say
	Kind   Kind
	By     string       // the former owner, the owner that delegated, the receiver of the child task, or the principal that replayed the task, lifted a constraint or approved a handoff
	To     string       // the new owner, the receiver of the child task, or the principal whose tightening alone was lifted
	Child  string       // the child task
	Rule   string       // the id of the constraint that was lifted, and
	Text   string       // its text, at most maxRule bytes
	Reason event.Reason // of the handoff
	Asked  string       // the principal that asked for the handoff, and whose words the detail is, if it is not By; empty: By, or the server
	Detail string       // at most maxDetail bytes and a mark that it was cut; of what is missing, maxLacking
}

// Kind is the kind of a passage. The set is closed.
type Kind string

// The kinds of passages.
const (
	PassedOn        Kind = "handoff"     // By handed the task over to To
	TakenOver       Kind = "takeover"    // To got it without the doing of By: its owner was lost or stuck, or somebody else decided so
	Delegated       Kind = "delegation"  // By delegated a child task to To
	DelegationEnded Kind = "result"      // the child task of By has ended; the task has its result
	FromTheDead     Kind = "dead-letter" // By replayed it from the dead letters
	RuleLifted      Kind = "lift"        // By lifted a constraint, or what To had tightened of it
	HandoffApproved Kind = "approval"    // By approved the handoff under way, and said something
	ContextLacking  Kind = "lacking"     // By rejected the offer of the task, and named what its context lacks
)

// The most bytes of the words of a passage, of the text of a constraint, and of a report of what is missing.
const (
	maxDetail  = 300
	maxRule    = 150
	maxLacking = 4000
)

// Words are the detail of the passage within its bound.
func (p Passage) Words() string {
	if p.Kind == ContextLacking {
		return cut(p.Detail, maxLacking)
	}
	return cut(p.Detail, maxDetail)
}

// RuleText is the text of a constraint as passages have it.
func RuleText(text string) string { return cut(strings.Join(strings.Fields(text), " "), maxRule) }

// Lacking says what the context of a task lacks, in at most maxLacking bytes of the words of the agent that reported it.
func Lacking(missing []string, detail string) string {
	text := "the context lacks " + strings.Join(missing, ", ")
	if detail != "" {
		text += " — " + detail
	}
	return cut(text, maxLacking)
}

// cutMark ends a text that was cut.
const cutMark = " […]"

// cut is a text of at most so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return refusal.Clip(text, most-len(cutMark)) + cutMark
}
