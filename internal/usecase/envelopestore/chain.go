package envelopestore

import (
	"context"
	"maps"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// MaxChain is the most bytes of envelopes that [Store.Chain] goes through.
const MaxChain = 64 << 20

// Chain is what was said of a task, envelope by envelope, oldest first, and what its receiver was given of each: the
// newest rendition, or the envelope itself. Each went to an owner: what was shared, delegated to a child, or offered in a handoff that did not
// move the task, or has not yet, is no part of it; what it added stands in the next. A child's chain begins with the envelope of its parent's that it follows. Envelopes of entries that reads does
// not report are left out.
func (s *Store) Chain(ctx context.Context, workspace string, t task.Task, reads func(ledger.Entry) bool) (said, given []envelope.Envelope, err error) {
	size := 0
	at := map[string]int{}   // by the digest of what was said
	past := map[string]int{} // by the digest of an envelope aside, that which it followed
	add := func(e sealed) error {
		if size += len(e.bytes); size > MaxChain {
			return refusal.New(refusal.TooLarge, "[export the trail](audit show) and compare what matters", "the envelopes of task %s are more than %d bytes", t.ID, MaxChain)
		}
		i, ok := at[e.source]
		switch {
		case e.source != "" && !ok:
			return nil // of an envelope that is no part of the chain
		case ok && e.bytes == nil:
			given[i] = said[i]
			given[i].Packing = e.packing
			return nil
		}
		doc, _, err := envelope.Open(e.bytes)
		if err != nil {
			return err
		}
		if ok {
			given[i] = doc
			return nil
		}
		i, ok = at[doc.Parent]
		if before, is := past[doc.Parent]; is {
			i, ok = before, true
		}
		if e.aside {
			if past[e.digest] = i; !ok {
				past[e.digest] = len(said) - 1
			}
			return nil
		}
		if ok {
			maps.DeleteFunc(at, func(_ string, j int) bool { return j > i })
			said, given = said[:i+1], given[:i+1]
		}
		at[e.digest] = len(said)
		said, given = append(said, doc), append(given, doc)
		return nil
	}
	first := t.Parent.Task != ""
	err = s.each(ctx, workspace, t.ID, func(e sealed) error {
		child := first
		if first = false; !reads(e.entry) {
			return nil
		}
		if note, erased := erasedNote(e.bytes); erased {
			return refusal.New(refusal.NotFound, "what happened and when is still [in the record](audit show)", "the envelopes of task %s were %s", t.ID, note)
		}
		if !child {
			return add(e)
		}
		parent, err := s.parent(ctx, workspace, t.Parent.Task, e.bytes)
		if err != nil {
			return err
		}
		if parent.digest != "" {
			if err := add(parent); err != nil {
				return err
			}
		}
		return add(e)
	})
	if err != nil {
		return nil, nil, err
	}
	return s.withMoves(ctx, workspace, t.ID, said, given)
}

// withMoves leaves out the envelopes of handoffs that did not move a task, except the first.
func (s *Store) withMoves(ctx context.Context, workspace, task string, said, given []envelope.Envelope) (_, _ []envelope.Envelope, err error) {
	moved, err := s.moved(ctx, workspace, task)
	if err != nil {
		return nil, nil, err
	}
	last := 0
	for i := range said {
		if id := said[i].Handoff.HandoffID; i > 0 && id != "" && !moved[id] {
			continue
		}
		said[last], given[last] = said[i], given[i]
		last++
	}
	return said[:last], given[:last], nil
}

// moved are the ids of the handoffs by which a task changed its owner.
func (s *Store) moved(ctx context.Context, workspace, id string) (map[string]bool, error) {
	moved := map[string]bool{}
	err := stream.Each(ctx, s.ledger, taskstore.StreamOf(workspace, id), func(e ledger.Entry) error {
		for _, ev := range e.Events {
			if ev.Name != (event.Moved{}).EventName() {
				continue
			}
			d, err := s.tasks.Codec().Decode(ev)
			if err != nil {
				return err
			}
			if m, ok := d.(event.Moved); ok {
				moved[event.HandoffID(id, m.Handoff)] = true
			}
		}
		return nil
	})
	return moved, err
}

// parent is the envelope of a parent task that a child's first one follows.
func (s *Store) parent(ctx context.Context, workspace, task string, first []byte) (sealed, error) {
	doc, _, err := envelope.Open(first)
	if err != nil || doc.Parent == "" {
		return sealed{}, err
	}
	b, err := s.Bytes(ctx, workspace, task, doc.Parent)
	return sealed{digest: doc.Parent, bytes: b}, err
}
