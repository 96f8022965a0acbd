package envelopes

import (
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

// gather adds what goes along from elsewhere: what the sender asks for, what is pinned, what was said, and what the
// envelope before brought, as far as the sender may read it still. What cannot be had is named as a gap; it never stops
// a handoff.
func (s *Sealer) gather(ctx context.Context, by caller.Caller, t task.Task, c Content, doc *envelope.Envelope) error {
	before := doc.Gaps
	doc.Gaps = nil
	for _, id := range c.Unresolved {
		doc.Gaps = append(doc.Gaps, envelope.Gap{Kind: envelope.PartMemory, ID: id, Reason: envelope.GapNotFound})
	}
	if err := s.files(ctx, by, t, c, doc); err != nil {
		return err
	}
	wanted := requested(c, doc.Memory)
	if over := len(wanted) - memories.MaxRequested; over > 0 {
		doc.Drop(envelope.DroppedMemory, over, t.ID)
		wanted = wanted[:memories.MaxRequested]
	}
	about := c.Ask
	if c.Again != "" {
		about = doc.Task.Ask
	}
	q := memories.Gather{Task: t, Requested: wanted, Recent: c.Recent, About: about}
	found, err := s.memories.Gather(ctx, by, q)
	if err != nil {
		return err
	}
	doc.Memory, doc.Conversation = found.Memory, found.Turns
	doc.Dropped = slices.DeleteFunc(slices.Clone(doc.Dropped), func(d envelope.Dropped) bool { // looked up again
		return d.Kind == envelope.DroppedTurns || d.Kind == envelope.DroppedPins
	})
	doc.Drop(envelope.DroppedPins, found.Pins, t.ID)
	doc.Gaps = append(doc.Gaps, found.Gaps...)
	// A summary that a sender wrote lasts until the next one; only one that was condensed here is made again.
	if last := doc.ConversationSummary; found.Continuity != "" && (last == "" || conversation.Condensed(last)) {
		doc.ConversationSummary, doc.TextBy.Summary = found.Continuity, "" // it says of itself what it is
	}
	doc.Gaps = gaps(before, doc, t)
	return nil
}

// gaps returns the gaps of an envelope: those that it found, and those of the envelope before that it did not fill. A
// reference of that one is not looked up again for another sender, who may read more than the one who asked for it. If
// there are too many, the oldest are omitted.
func gaps(before []envelope.Gap, doc *envelope.Envelope, t task.Task) []envelope.Gap {
	closed := func(g envelope.Gap) bool {
		same := func(n envelope.Gap) bool { return n.Kind == g.Kind && n.ID == g.ID }
		stands := func(i envelope.Item) bool { return i.StandsFor(g.ID) }
		switch {
		case slices.ContainsFunc(doc.Gaps, same):
			return true
		case g.Kind == envelope.PartFact:
			return !slices.ContainsFunc(doc.KeyFacts, stands)
		case g.Kind == envelope.PartDecision:
			return !slices.ContainsFunc(doc.Decisions, stands)
		case g.Kind == envelope.PartMemory:
			return slices.ContainsFunc(doc.Memory, func(m envelope.MemoryRef) bool { return m.ID == g.ID })
		case g.Kind == envelope.PartArtifact:
			return slices.ContainsFunc(doc.Artifacts, func(a envelope.Artifact) bool { return a.Digest == g.ID })
		}
		return false
	}
	all := append(slices.DeleteFunc(slices.Clone(before), closed), doc.Gaps...)
	return newest(doc, t, all, envelope.MaxGaps, envelope.DroppedGaps)
}

// requested are the items that the sender asks for, then those that the envelope before brought, in its order: the
// newest first, and pinned ones before others.
func requested(c Content, carried []envelope.MemoryRef) []memory.Reference {
	refs := make([]memory.Reference, 0, len(c.Memory)+len(carried))
	for _, m := range c.Memory {
		refs = append(refs, memory.Reference{ID: m.ID, Version: m.Version})
	}
	for _, pinned := range []bool{true, false} {
		for _, m := range carried {
			if m.Pinned == pinned && !slices.ContainsFunc(c.Memory, func(asked MemoryAsk) bool { return asked.ID == m.ID }) {
				refs = append(refs, memory.Reference{ID: m.ID, Version: m.Version, Digest: m.Digest})
			}
		}
	}
	return refs
}

// files adds the artifacts that the sender names.
func (s *Sealer) files(ctx context.Context, by caller.Caller, t task.Task, c Content, doc *envelope.Envelope) error {
	if len(c.Artifacts) == 0 {
		return nil
	}
	list := make([]envelope.Artifact, len(c.Artifacts))
	for i, f := range c.Artifacts {
		list[i] = envelope.Artifact{Digest: f.Digest, Name: f.Name, MediaType: f.MediaType}
	}
	found, missing, err := s.artifacts.Check(ctx, by, list)
	if err != nil {
		return err
	}
	for _, f := range found { // the same content under another name is the newer one's
		doc.Artifacts = slices.DeleteFunc(doc.Artifacts, func(old envelope.Artifact) bool { return old.Digest == f.Digest })
		doc.Artifacts = append(doc.Artifacts, f)
	}
	doc.Artifacts = newest(doc, t, doc.Artifacts, envelope.MaxArtifacts, envelope.DroppedFiles)
	doc.Gaps = append(doc.Gaps, missing...)
	return nil
}
