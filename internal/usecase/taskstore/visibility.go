package taskstore

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// VisibilityFor is what the caller reads of a task, by the rule of package task; operators and auditors read everything.
func VisibilityFor(c caller.Caller, t task.Task) task.Visibility {
	if readsAny(c) {
		return task.Visibility{Intent: true, Given: true, Work: true, Past: task.PastWhole}
	}
	return task.VisibilityFor(&t, c.String())
}

func readsAny(c caller.Caller) bool { return c.IsSystem() || identity.May(c.Role, identity.ReadAny) }

// Sees reports whether the caller has a relation to the task, and may know of it. Those who may read anything see every task.
func (s *Store) Sees(c caller.Caller, t task.Task) bool {
	return readsAny(c) || len(task.RelationsOf(&t, c.String())) > 0
}

// touches reports whether a caller may try a command on the task at all. Beyond those who see it, an agent that was a
// candidate may be told that its offer is over.
func (s *Store) touches(c caller.Caller, t task.Task) bool {
	if s.Sees(c, t) {
		return true
	}
	h := t.Handoff
	return h != nil && slices.ContainsFunc(h.Candidates, func(k event.Candidate) bool { return k.Agent == c.Agent() })
}

// Past is which entries of a task's stream a caller reads with their content.
type Past struct {
	whole bool
	name  string   // of the agent
	spans []span   // in order
	given []string // digests of the envelopes that were offered or shared to it, as it gets them now
	// late are the entries that have content of an earlier one, and the position of that one: an agent reads them if it reads the earlier one.
	late map[ledger.Position]ledger.Position
}

// span is a range of positions, both included.
type span struct{ from, to ledger.Position }

// Reads reports whether the caller reads the content of an entry.
func (p Past) Reads(e ledger.Entry) bool {
	return p.whole || e.Actor.Principal == "agent/"+p.name && p.name != "" || p.held(e.Position)
}

// held reports whether the caller held the task at an entry, or was given what went before, and the same of the entry that it has content of.
func (p Past) held(at ledger.Position) bool {
	of, late := p.late[at]
	return slices.ContainsFunc(p.spans, func(s span) bool { return s.from <= at && at <= s.to }) && (!late || p.held(of))
}

// PastFor is which entries of a task the caller, who sees it, reads with their content.
func (s *Store) PastFor(ctx context.Context, c caller.Caller, t task.Task) (Past, error) {
	visible := VisibilityFor(c, t)
	p := Past{whole: visible.Past == task.PastWhole, name: c.Agent()}
	if visible.Given && !p.whole {
		p.given = given(t, p.name)
	}
	if visible.Past != task.PastHeld {
		return p, nil
	}
	f := holding{late: map[ledger.Position]ledger.Position{}, shares: map[int]ledger.Position{}, children: map[string]ledger.Position{}}
	err := stream.Each(ctx, s.ledger, StreamOf(c.Workspace, t.ID), func(e ledger.Entry) error {
		for _, ev := range e.Events {
			d, err := s.Codec().Decode(ev)
			if err != nil {
				return err
			}
			f.add(e.Position, d, p.name)
		}
		return nil
	})
	p.spans, p.late = f.spans, f.late
	return p, err
}

// holding finds out from the events of a task when an agent held it, and from where on it was given what went before.
type holding struct {
	state     task.Task
	spans     []span
	since     ledger.Position // the last cold handoff; 0: none
	requested ledger.Position // the newest handoff
	late      map[ledger.Position]ledger.Position
	shares    map[int]ledger.Position    // where they were made
	children  map[string]ledger.Position // where they were made
}

// link notes which entry an event has content of: a share may be read, and a child may end, after a cold handoff.
func (f *holding) link(at ledger.Position, ev event.Event) {
	switch ev := ev.(type) {
	case event.Shared:
		f.shares[ev.Share] = at
	case event.Spawned:
		for _, c := range ev.Children {
			f.children[c.Task] = at
		}
	case event.Rendered:
		if of, ok := f.shares[ev.Share]; ok && of < at {
			f.late[at] = of
		}
	case event.ChildEnded:
		if of, ok := f.children[ev.Child]; ok && of < at {
			f.late[at] = of
		}
	}
}

func (f *holding) add(at ledger.Position, ev event.Event, name string) {
	before := f.state
	f.state = task.Fold(before, ev)
	f.link(at, ev)
	switch ev := ev.(type) {
	case event.HandoffRequested:
		f.requested = at
	case event.Moved:
		if h := f.state.Handoff; h != nil && h.Kind == event.Cold {
			f.since = at
			if ev.To == name {
				f.spans = append(f.spans, span{f.requested, f.requested})
			}
		}
	}
	if !holds(before, name) && !holds(f.state, name) {
		return
	}
	if n := len(f.spans); n > 0 && holds(before, name) {
		f.spans[n-1].to = at
		return
	}
	f.spans = append(f.spans, span{f.since, at})
}

// holds reports whether an agent owns the task, or is to approve the handoff of its owner.
func holds(t task.Task, name string) bool {
	h := t.InFlight()
	return t.Owner == name || h != nil && h.Approver == name
}

// given are the digests of the envelopes that an agent gets of an open offer and of shares.
func given(t task.Task, name string) (digests []string) {
	if h := t.InFlight(); h != nil && h.Stage == event.Offered && !h.Claim && slices.Contains(h.To, name) {
		digests = append(digests, h.Envelope, h.Rendition)
	}
	for _, s := range t.Shares {
		if s.To == name {
			digests = append(digests, s.Envelope, s.Rendition)
		}
	}
	return slices.DeleteFunc(digests, func(d string) bool { return d == "" })
}

// Mentions reports whether an envelope or a result that the caller was given of a task contains a text, such as the digest of a file.
func (s *Store) Mentions(ctx context.Context, c caller.Caller, id, text string) (bool, error) {
	f, err := s.Load(ctx, StreamOf(c.Workspace, id), true)
	if err != nil || !f.State.Exists() || !s.Sees(c, f.State) {
		return false, err
	}
	p, err := s.PastFor(ctx, c, f.State)
	if err != nil || p.whole {
		return p.whole, err
	}
	if len(p.spans) == 0 && len(p.given) == 0 {
		return false, nil
	}
	err = stream.Each(ctx, s.ledger, StreamOf(c.Workspace, id), func(e ledger.Entry) error {
		for _, ev := range e.Events {
			if !bytes.Contains(ev.Data, []byte(text)) {
				continue
			}
			d, err := s.Codec().Decode(ev)
			if err != nil {
				return err
			}
			if p.held(e.Position) && carries(d) || slices.Contains(p.given, sealedDigest(d)) {
				return errFound
			}
		}
		return nil
	})
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// carries reports whether an event is an envelope or a result: to name a file anywhere else hands it to nobody.
func carries(ev event.Event) bool {
	switch ev.(type) {
	case event.Sealed, event.Rendered, event.Finished, event.GaveUp, event.ChildEnded, event.Joined:
		return true
	}
	return false
}

// errFound ends a search.
var errFound = errors.New("found")

// sealedDigest is the digest of the envelope that an event seals; "" if it seals none.
func sealedDigest(ev event.Event) string {
	switch ev := ev.(type) {
	case event.Sealed:
		return ev.Digest
	case event.Rendered:
		return ev.Digest
	}
	return ""
}
