package memories

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Reader returns a function that gives an entry without the content of memory items that were forgotten since: neither in the entries of
// the items nor in the envelopes and claimed histories of tasks. Digests stay as they are recorded. It loads each item once: use one
// function for each answer, in one goroutine.
func (st *Store) Reader() func(ctx context.Context, e ledger.Entry) (ledger.Entry, error) {
	return st.look().readable
}

func (l *look) readable(ctx context.Context, e ledger.Entry) (ledger.Entry, error) {
	workspace, of, id := e.Stream.Parts()
	switch of {
	case kind:
		return l.readableItem(ctx, e, StreamOf(workspace, id))
	case taskstore.Kind:
		return l.readableTask(ctx, e, workspace)
	}
	return e, nil
}

func (l *look) readableItem(ctx context.Context, e ledger.Entry, item ledger.Stream) (ledger.Entry, error) {
	gone, err := l.forgotten(ctx, item)
	if err != nil || !gone {
		return e, err
	}
	st := l.store
	events, err := st.Codec().DecodeAll(e.Events)
	if err != nil {
		return e, err
	}
	for i, event := range events {
		switch ev := event.(type) {
		case memory.ItemStored:
			ev.Version, ev.Tags = withheld(ev.Version), nil
			events[i] = ev
		case memory.ItemRevised:
			ev.Version = withheld(ev.Version)
			events[i] = ev
		case memory.ItemTagged:
			ev.Tags = nil
			events[i] = ev
		}
	}
	e = e.Plain()
	e.Events, err = st.Codec().EncodeAll(events)
	return e, err
}

func withheld(v memory.Version) memory.Version {
	v.Title, v.Text, v.Salt = "", "withheld", ""
	return v
}

// readableTask redacts the envelopes and the claimed history of an entry.
func (l *look) readableTask(ctx context.Context, e ledger.Entry, workspace string) (ledger.Entry, error) {
	cloned := false
	for i, ev := range e.Events {
		field, redact := "envelope", l.redact
		switch {
		case ev.Name == (event.Created{}).EventName() && bytes.Contains(ev.Data, claimedMember):
			field, redact = "claimed_history", l.redactClaimed
		case ev.Name != (event.Sealed{}).EventName() && ev.Name != (event.Rendered{}).EventName(), !bytes.Contains(ev.Data, memoryMember):
			continue
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(ev.Data, &all); err != nil {
			return e, err
		}
		redacted, err := redact(ctx, workspace, all[field])
		if err != nil {
			return e, err
		}
		if redacted == nil {
			continue
		}
		all[field] = redacted
		if ev.Data, err = json.Marshal(all); err != nil {
			return e, err
		}
		if !cloned {
			e = e.Plain()
			e.Events, cloned = slices.Clone(e.Events), true
		}
		e.Events[i] = ev
	}
	return e, nil
}

// claimedMember is in every created task that has a claimed history.
var claimedMember = []byte(`"claimed_history":`)

// memoryMember is in every sealed envelope that has memory items.
var memoryMember = []byte(`"memory":[`)

// Redact returns a copy of a sealed envelope without the memory items that were forgotten since: each is a gap instead. It
// returns nil if there are none. The copy has another digest than the sealed envelope.
func (st *Store) Redact(ctx context.Context, workspace string, sealed []byte) ([]byte, error) {
	return st.look().redact(ctx, workspace, sealed)
}

func (l *look) redact(ctx context.Context, workspace string, sealed []byte) ([]byte, error) {
	if !bytes.Contains(sealed, memoryMember) {
		return nil, nil
	}
	doc, _, err := envelope.Open(sealed)
	if err != nil {
		return nil, err
	}
	forgotten, err := l.among(ctx, workspace, doc.Memory)
	if err != nil || len(forgotten) == 0 {
		return nil, err
	}
	doc.Memory = slices.DeleteFunc(doc.Memory, func(m envelope.MemoryRef) bool { return slices.Contains(forgotten, m.ID) })
	doc.Gaps = slices.DeleteFunc(doc.Gaps, func(g envelope.Gap) bool {
		return g.Kind == envelope.PartMemory && slices.Contains(forgotten, g.ID)
	})
	for _, id := range forgotten {
		doc.Gaps = append(doc.Gaps, envelope.Gap{Kind: envelope.PartMemory, ID: id, Reason: envelope.GapForgotten})
	}
	over := max(0, len(doc.Gaps)-envelope.MaxGaps)
	doc.Gaps = doc.Gaps[over:]
	doc.Drop(envelope.DroppedGaps, over, doc.Handoff.TaskID)
	if resolved := len(doc.Memory) + len(doc.Artifacts); !doc.Packing.IsZero() {
		doc.Packing.Completeness = float64(resolved) / float64(resolved+len(doc.Gaps))
	}
	return envelope.RenderJSON(doc)
}

// RedactTitles removes the titles and texts of forgotten items from lists of envelopes that are compared. Of a text it leaves that there was
// one.
func (st *Store) RedactTitles(ctx context.Context, workspace string, lists ...[]envelope.Envelope) error {
	l := st.look()
	for _, docs := range lists {
		for i := range docs {
			if err := l.redactTitles(ctx, workspace, &docs[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *look) redactTitles(ctx context.Context, workspace string, doc *envelope.Envelope) error {
	forgotten, err := l.among(ctx, workspace, doc.Memory)
	if err != nil || len(forgotten) == 0 {
		return err
	}
	doc.Memory = slices.Clone(doc.Memory)
	for j := range doc.Memory {
		m := &doc.Memory[j]
		if !slices.Contains(forgotten, m.ID) {
			continue
		}
		m.Title = ""
		if m.Text != "" { // that it was given stays true
			m.Text = "(" + string(envelope.GapForgotten) + ")"
		}
	}
	return nil
}
