package envelopestore

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

// Points are the facts and decisions that the envelopes of a task had, each as it was said last. They stay after an envelope that leaves them out.
type Points map[string]point // by kind and id

type point struct {
	by   string
	text [sha256.Size]byte
}

// Has reports whether an envelope had a fact or decision of an id.
func (p Points) Has(kind envelope.PartKind, id string) bool {
	_, is := p[string(kind)+":"+id]
	return is
}

// Alike returns the id of a fact or decision that an envelope had, and that is an id or differs from it in case alone.
func (p Points) Alike(kind envelope.PartKind, id string) (string, bool) {
	if p.Has(kind, id) {
		return id, true
	}
	for name := range p {
		if of, is := strings.CutPrefix(name, string(kind)+":"); is && strings.EqualFold(of, id) {
			return of, true
		}
	}
	return "", false
}

// Says reports whether the fact or decision of an id has these words.
func (p Points) Says(kind envelope.PartKind, id, text string) bool {
	is, ok := p[string(kind)+":"+id]
	return ok && is.text == sha256.Sum256([]byte(text))
}

// Same reports whether the fact or decision of an id is that of an author, in these words.
func (p Points) Same(kind envelope.PartKind, id, by, text string) bool {
	is, ok := p[string(kind)+":"+id]
	return ok && is == point{by: by, text: sha256.Sum256([]byte(text))}
}

// pointed is what of an envelope is read for its points.
type pointed struct {
	Parent    string     `json:"parent"`
	KeyFacts  []onePoint `json:"key_facts"`
	Decisions []onePoint `json:"decisions"`
}

type onePoint struct {
	ID   string `json:"id"`
	By   string `json:"by"`
	Text string `json:"text"`
}

// add adds the points of an envelope.
func (p Points) add(doc pointed) {
	for _, of := range []struct {
		kind envelope.PartKind
		list []onePoint
	}{{envelope.PartFact, doc.KeyFacts}, {envelope.PartDecision, doc.Decisions}} {
		for _, i := range of.list {
			p[string(of.kind)+":"+i.ID] = point{by: i.By, text: sha256.Sum256([]byte(i.Text))}
		}
	}
}

// Points are those of the envelopes of a task up to the one of a digest, which is empty if there is none. Of envelopes that were erased they
// are not known. Callers must not change them.
func (s *Store) Points(ctx context.Context, workspace, task, digest string) (Points, error) {
	key := pointsOf{workspace, task, digest}
	if p, ok := s.points.get(key); ok || digest == "" {
		return p, nil
	}
	b, err := s.Bytes(ctx, workspace, task, digest)
	if err != nil {
		return nil, err
	}
	var doc pointed
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, err
	}
	all := Points{}
	parent := pointsOf{workspace, task, doc.Parent}
	if before, ok := s.points.get(parent); ok {
		all = maps.Clone(before)
	} else if doc.Parent != "" {
		later := false // another call may have sealed one since the caller read the task
		err := s.each(ctx, workspace, task, func(e sealed) error {
			var earlier pointed
			later = later || e.digest == digest
			if _, erased := erasedNote(e.bytes); later || erased || e.source != "" || e.bytes == nil {
				return nil
			}
			err := json.Unmarshal(e.bytes, &earlier)
			all.add(earlier)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	all.add(doc)
	s.points.put(key, parent, all)
	return all, nil
}
