package envelopes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/passage"
)

// What the server itself adds to the history of a task: what its owner has reported, what people have answered, and what became of the
// task and of its children.

// told adds to an envelope what the server tells since the one before.
func told(doc *envelope.Envelope, t task.Task) {
	doc.Drop(envelope.DroppedChanges, t.Dropped.Past, t.ID)
	tell(doc, t, passages(doc.History, t)...)
	doc.Drop(envelope.DroppedNotes, t.Dropped.Notes, t.ID)
	tell(doc, t, progress(doc.History, t)...)
	doc.Drop(envelope.DroppedAnswers, t.Dropped.Answers, t.ID)
	tell(doc, t, answers(t)...)
}

// answers is what people have told the task's owner since its newest envelope.
func answers(t task.Task) []envelope.Step {
	var steps []envelope.Step
	for _, a := range t.Answers {
		by, at := a.Where()
		step := envelope.Step{Time: a.At, Agent: by, Action: strings.TrimSpace("answer " + at), Recorded: true, Weight: envelope.Weight{Importance: asked}}
		texts := []string{quoted(a.Question) + " — " + task.Said(a.Answer, a.Detail)}
		if len(texts[0]) > envelope.MaxItemText { // each of them alone is within the limit
			texts = []string{quoted(a.Question), a.Answer, a.Detail}
		}
		for _, step.Detail = range texts {
			if step.Detail != "" {
				steps = append(steps, step)
			}
		}
	}
	return steps
}

// quoted is a text between quotation marks that it cannot close.
func quoted(text string) string {
	return "“" + strings.NewReplacer("“", "'", "”", "'").Replace(text) + "”"
}

// reported is the action of a step that is a progress note.
const reported = "progress"

// progress is what the owner has reported and the history does not tell yet.
func progress(history []envelope.Step, t task.Task) (steps []envelope.Step) {
	told := map[string]bool{}
	for _, s := range slices.Backward(history) {
		if s.Action != reported {
			continue
		}
		if s.Agent != t.Owner { // what stands before that is of another time
			break
		}
		told[s.Detail] = true
	}
	for _, note := range t.Notes {
		if !told[note] {
			steps = append(steps, envelope.Step{Agent: t.Owner, Action: reported, Detail: note})
		}
	}
	return steps
}

// passing is the importance of a step that tells of a change of hands: where the budget is short, what was done matters more.
const passing = 0.1

// asked is the importance of a step that an owner has asked for: an answer of people, or the result of a child. It comes before facts that are
// not pinned.
const asked = 0.9

// replayed is the action of a step that tells of a replay.
const replayed = "replayed it from the dead letters"

// maxChildResult is the most bytes of the result of a child that the history repeats. The child has the whole.
const maxChildResult = 4000

// passages is what became of the task and of its children since its newest envelope, as far as the history does not tell it yet.
func passages(history []envelope.Step, t task.Task) (steps []envelope.Step) {
	for _, p := range t.Past {
		if p.Kind == passage.TakenOver && slices.ContainsFunc(history, func(h envelope.Step) bool { return h.Recorded && h.Action == replayed && h.Detail == p.Detail }) {
			p.Detail = "" // the note of the replay is the reason of the handoff that it asked for, and told already
		}
		s := asStep(p, t)
		told := func(h envelope.Step) bool {
			return h.Agent == s.Agent && h.Action == s.Action && h.Detail == s.Detail && h.Time.Equal(s.Time)
		}
		if s.Agent != "" && !slices.ContainsFunc(history, told) {
			steps = append(steps, s)
		}
	}
	return steps
}

// amending is what has happened since the envelope of the handoff under way was sealed, and its receiver must read: the words of the approver, and why a
// constraint was lifted that the envelope lists. The receiver of a cold handoff reads nothing of the time before it.
func amending(history []envelope.Step, t task.Task) []envelope.Step {
	past := t.Past
	if t.Handoff.Kind == event.Cold {
		past = past[min(t.Handoff.Past, len(past)):]
	}
	t.Past = slices.DeleteFunc(slices.Clone(past), func(p passage.Passage) bool { return !amends(p.Kind) })
	return passages(history, t)
}

// amends reports whether the receiver of a handoff that is sealed reads such a passage.
func amends(k passage.Kind) bool {
	return k == passage.HandoffApproved || k == passage.RuleLifted || k == passage.ContextLacking
}

// asStep is a passage as a step. One that cannot be told has no agent.
func asStep(p passage.Passage, t task.Task) envelope.Step {
	s := envelope.Step{Time: p.At.UTC().Truncate(time.Microsecond), Agent: p.By, Detail: p.Detail, Recorded: true}
	switch p.Kind {
	case passage.PassedOn, passage.TakenOver:
		s.Agent, s.Action = passedOn(p)
		s.Importance = passing
		if p.Kind == passage.PassedOn && p.Reason != event.ReasonUserRequest {
			s.Detail = string(p.Reason)
			if p.Detail != "" {
				s.Detail += ", " + p.Detail
			}
		}
	case passage.Delegated:
		s.Action, s.Importance = "delegated to "+p.To, passing
	case passage.DelegationEnded:
		i := t.FindChild(p.Child)
		if i < 0 {
			return envelope.Step{}
		}
		s.Action, s.Detail = childEnded(t.Children[i])
		s.Importance = asked
	case passage.FromTheDead:
		s.Action, s.Importance = replayed, passing
	case passage.HandoffApproved:
		s.Action = "approved the handoff"
	case passage.ContextLacking:
		s.Action = "rejected the offer"
	case passage.RuleLifted:
		rule := p.Rule
		if p.Text != "" {
			rule += " (" + quoted(p.Text) + ")"
		}
		s.Action, s.Importance = "lifted constraint "+rule, passing
		if p.To != "" {
			s.Action = "lifted what " + p.To + " tightened of constraint " + rule
		}
	}
	return s
}

// passedOn is a change of owner as an action of the principal whose words its detail is: the former owner, the new one, or one that decided it. Words of the
// server are the new owner's. What the server offers for the former owner, such as the children of a fan-out, that owner gave.
func passedOn(p passage.Passage) (agent, action string) {
	switch {
	case p.Kind == passage.PassedOn && (p.Asked == "" || strings.HasPrefix(p.Asked, string(identity.System)+"/")):
		return p.By, "handed over to " + p.To
	case p.Kind == passage.PassedOn && p.Asked == p.To:
		return p.To, "took over from " + p.By + ", who agreed"
	case p.Asked == "" || p.Asked == p.To:
		return p.To, "took over from " + p.By
	}
	return p.Asked, "gave it from " + p.By + " to " + p.To
}

// childEnded says how a child ended, and with which result.
func childEnded(c task.Child) (action, detail string) {
	switch c.State {
	case event.Completed:
		action = "completed the delegated part"
	case event.Cancelled:
		action = "did not complete the delegated part, which was cancelled"
	default:
		action = "failed at the delegated part"
	}
	if c.Result != nil {
		detail = cmp.Or(c.Result.Text, string(c.Result.Data))
	}
	detail = cmp.Or(detail, c.Why)
	if len(detail) > maxChildResult {
		detail = refusal.Clip(detail, maxChildResult) + " […] The whole is the result of task " + c.Task
	}
	return action, detail
}
