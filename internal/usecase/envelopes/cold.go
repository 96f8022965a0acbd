package envelopes

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// cold is an envelope, and what its sender adds, without all but the description of the task. It counts what both had beside that: neither the sender
// nor the receiver is to think that it arrives, or that it is not there. An agent does not leave out what the requester and operators pinned.
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
	}
	told(&doc, t)
	for _, d := range doc.Dropped {
		if kind := d.Kind; kind != envelope.DroppedPins && kind != envelope.DroppedTurns { // these are looked up
			if c.Again == "" { // an earlier sender gave it
				kind = earlier(kind)
			}
			out.Drop(kind, d.Count, d.Task)
		}
	}
	before, given := hadBefore(doc, out, c), c.given()
	for i, kind := range []envelope.DroppedKind{
		envelope.SentTexts, envelope.SentFacts, envelope.SentDecisions, envelope.SentQuestions, envelope.SentSteps, envelope.SentMemory, envelope.SentFiles,
	} {
		out.Drop(kind, given[i], t.ID)
		out.Drop(earlier(kind), before[i], t.ID)
	}
	return out, Content{Ask: c.Ask, Notes: c.Notes, NotesBy: c.NotesBy, ExpiresAt: c.ExpiresAt, Confidence: c.Confidence}
}

// earlier is the kind of what a task had before a cold handoff, for one of what was given with it; all other kinds stay.
func earlier(kind envelope.DroppedKind) envelope.DroppedKind {
	return envelope.DroppedKind(strings.Replace(string(kind), "sent_", "cold_", 1))
}

// coldCounts are of texts, facts, decisions, questions, steps, memory items and files.
type coldCounts [7]int

// given counts what a sender gave.
func (c Content) given() coldCounts {
	return coldCounts{
		count(c.State != "", c.Summary != "", len(c.Data) > 0), len(c.Facts), len(c.Decisions), len(c.Questions), len(c.Steps),
		len(c.Memory) + len(c.Unresolved) + c.Recent, len(c.Artifacts),
	}
}

// hadBefore counts what an envelope has beside what is left of it, and what the content has in its place.
func hadBefore(doc, left envelope.Envelope, c Content) coldCounts {
	points := func(have, kept []envelope.Item, add []Point) (n int) {
		for _, i := range have {
			same := func(k envelope.Item) bool { return k.ID == i.ID }
			if !slices.ContainsFunc(kept, same) && !slices.ContainsFunc(add, func(p Point) bool { return p.ID == i.ID || p.Supersedes == i.ID }) {
				n++
			}
		}
		return n
	}
	questions, steps, items, files := 0, 0, 0, 0
	if c.Questions == nil {
		questions = len(doc.OpenQuestions)
	}
	for _, s := range doc.History {
		if !s.Recorded || s.Importance != passing { // that the task changed hands is no context
			steps++
		}
	}
	item := func(id string) {
		if !slices.ContainsFunc(c.Memory, func(m MemoryAsk) bool { return m.ID == id }) {
			items++
		}
	}
	file := func(digest string) {
		if !slices.ContainsFunc(c.Artifacts, func(a Artifact) bool { return a.Digest == digest }) {
			files++
		}
	}
	for _, m := range doc.Memory {
		item(m.ID)
	}
	for _, a := range doc.Artifacts {
		file(a.Digest)
	}
	for _, g := range doc.Gaps {
		if g.Kind == envelope.PartMemory {
			item(g.ID)
		}
		if g.Kind == envelope.PartArtifact {
			file(g.ID)
		}
	}
	return coldCounts{
		count(doc.Task.State != "" && c.State == "", doc.ConversationSummary != "" && c.Summary == "", len(doc.Task.Data) > 0 && len(c.Data) == 0),
		points(doc.KeyFacts, left.KeyFacts, c.Facts), points(doc.Decisions, left.Decisions, c.Decisions), questions, steps, items, files,
	}
}

func count(of ...bool) (n int) {
	for _, is := range of {
		if is {
			n++
		}
	}
	return n
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
