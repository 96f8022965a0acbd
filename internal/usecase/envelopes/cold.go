package envelopes

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// cold is an envelope, and what its sender adds, without all but the description of the task. It counts what the sender gave beside that: neither the sender
// nor the receiver is to think that it arrives. An agent does not leave out what the requester and operators pinned.
func cold(doc envelope.Envelope, t task.Task, c Content, by string) (envelope.Envelope, Content) {
	out := envelope.Envelope{
		Version: doc.Version, Parent: doc.Parent, Handoff: doc.Handoff, CreatedAt: doc.CreatedAt, Priority: doc.Priority, Hops: doc.Hops, Trace: doc.Trace,
		Task: envelope.Task{Intent: t.Intent, Deadline: t.Deadline},
	}
	if !rules(by, t) {
		out.KeyFacts, out.Decisions = binding(doc.KeyFacts, t), binding(doc.Decisions, t)
	}
	if c.Again != "" { // only what is asked again
		out.Task.Ask, out.TextBy.Ask = doc.Task.Ask, doc.TextBy.Ask
		out.Dropped = slices.DeleteFunc(slices.Clone(doc.Dropped), func(d envelope.Dropped) bool { return !d.Kind.Sent() || d.Task != t.ID })
	}
	texts := 0
	for _, given := range []bool{c.State != "", c.Summary != "", len(c.Data) > 0} {
		if given {
			texts++
		}
	}
	out.Drop(envelope.SentTexts, texts, t.ID)
	out.Drop(envelope.SentFacts, len(c.Facts), t.ID)
	out.Drop(envelope.SentDecisions, len(c.Decisions), t.ID)
	out.Drop(envelope.SentQuestions, len(c.Questions), t.ID)
	out.Drop(envelope.SentSteps, len(c.Steps), t.ID)
	out.Drop(envelope.SentMemory, len(c.Memory)+len(c.Unresolved)+c.Recent, t.ID)
	out.Drop(envelope.SentFiles, len(c.Artifacts), t.ID)
	return out, Content{Ask: c.Ask, Notes: c.Notes, ExpiresAt: c.ExpiresAt, Confidence: c.Confidence}
}

// binding is the facts or decisions that the requester or an operator pinned, also in words of others that replaced theirs.
func binding(list []envelope.Item, t task.Task) (out []envelope.Item) {
	for _, i := range list {
		if i.Pinned && (i.Ruled || slices.ContainsFunc(append([]string{i.WasBy}, i.EarlierBy...), func(by string) bool { return by != "" && rules(by, t) })) {
			out = append(out, i)
		}
	}
	return out
}
