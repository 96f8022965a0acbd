package drift

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

// Hop compares the content of one envelope with that of the next.
type Hop struct {
	// Number counts from 1. Parent is the digest that the later envelope names; From and To are its sender and
	// receivers.
	Number int    `json:"hop,omitempty"`
	Parent string `json:"parent,omitempty"`
	// Handoff is the id of the handoff that the later envelope was made for.
	Handoff string   `json:"handoff,omitempty"`
	From    string   `json:"from"`
	To      []string `json:"to,omitempty"`
	// IntentKept is whether the intent is the same, byte for byte.
	IntentKept  bool    `json:"intent_kept"`
	Facts       Changes `json:"facts"`
	Decisions   Changes `json:"decisions"`
	Constraints Changes `json:"constraints"`
	// References are memory items by id, and files by the digest of their content.
	References Changes `json:"references"`
	// LostTexts are the state, the conversation's summary, the data, the open questions and the history, where there was one, its sender did not
	// remove it, and the receiver was given none.
	LostTexts []Lost `json:"lost_texts,omitempty"`
	// ReplacedTexts are the state, the summary, the data and the open questions, where the sender replaced or removed them.
	ReplacedTexts []Change `json:"replaced_texts,omitempty"`
	// Tokens, Budget and Utilisation (0 to 1) are the later envelope's, if it was packed.
	Tokens      int     `json:"tokens,omitempty"`
	Budget      int     `json:"budget,omitempty"`
	Utilisation float64 `json:"utilisation,omitempty"`
}

// Changes sorts the entries of one kind. Each list is in the order of its envelope.
type Changes struct {
	Kept    []string `json:"kept,omitempty"`
	Changed []Change `json:"changed,omitempty"`
	Omitted []Lost   `json:"omitted,omitempty"` // its reason is recorded
	Dropped []Lost   `json:"dropped,omitempty"` // absent without a recorded reason
	Added   []string `json:"added,omitempty"`
}

// Change is one entry that was kept with another text.
type Change struct {
	ID string `json:"id"`
	// Was is the earlier id, if another entry superseded it.
	Was string `json:"was,omitempty"`
	// By is the author that superseded or reworded it, the sender that replaced it, or the principals that set the changed parts of a
	// constraint or lifted it. Empty: not recorded.
	By string `json:"by,omitempty"`
	// TightenedBy is the principal whose tightening of a constraint was lifted, if that alone was.
	TightenedBy string `json:"tightened_by,omitempty"`
	How         How    `json:"how"`
	Before      string `json:"before"` // of a constraint, with its limits in brackets
	After       string `json:"after"`  // empty if the whole constraint was lifted
}

// How is the kind of a change.
type How string

// The kinds of changes.
const (
	Reworded   How = "reworded"   // other words under the same id
	Superseded How = "superseded" // by an entry that names it
	Tightened  How = "tightened"  // a stricter constraint
	Loosened   How = "loosened"   // a less strict or a different constraint
	Lifted     How = "lifted"     // a constraint that was removed, or of which a tightening was: by whom is in By
	Revised    How = "revised"    // a reference to another version
	Replaced   How = "replaced"   // a text such as the state, by another one, or by none: see [Hop.ReplacedTexts]
)

// Lost is one entry that the later envelope does not have.
type Lost struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// Why is the recorded reason for the omission.
	Why string `json:"why,omitempty"`
	// Before is the earlier text, if it was another one: How says what became of it, By who did it, and Was is the earlier id, if the entry
	// superseded another one.
	Was    string `json:"was,omitempty"`
	By     string `json:"by,omitempty"`
	How    How    `json:"how,omitempty"`
	Before string `json:"before,omitempty"`
}

// Compare reports what next kept, changed and dropped of prev.
func Compare(prev, next envelope.Envelope) Hop { return compare(prev, next, next) }

// compare reports what packed, which the receiver of full was given, kept of prev and of the additions in full.
func compare(prev, full, packed envelope.Envelope) Hop {
	h := Hop{
		Parent: packed.Parent, Handoff: packed.Handoff.HandoffID, From: packed.Handoff.From, To: slices.Clone(packed.Handoff.To),
		IntentKept: prev.Task.Intent == packed.Task.Intent,
		Tokens:     packed.Packing.Tokens, Budget: packed.Packing.Budget, Utilisation: packed.Packing.Utilisation,
	}
	for k, changes := range h.kinds() {
		*changes = k.compare(prev, full, packed)
	}
	h.LostTexts, h.ReplacedTexts = lostTexts(prev, full, packed), replacedTexts(prev, full, packed)
	return h
}

// kinds maps every kind to its field in a hop.
func (h *Hop) kinds() map[entryKind]*Changes {
	return map[entryKind]*Changes{
		facts: &h.Facts, decisions: &h.Decisions, constraints: &h.Constraints, references: &h.References,
	}
}

func (k entryKind) compare(prev, full, packed envelope.Envelope) (c Changes) {
	before, after := k.of(prev), k.of(packed)
	there := len(after)
	for _, e := range k.of(full) {
		if !slices.ContainsFunc(after[:there], func(g entry) bool { return g.id == e.id }) {
			after = append(after, e)
		}
	}
	link := match(before, after)
	for i, old := range before {
		j := link[i]
		switch {
		case j < 0:
			c.lose(Lost{ID: old.id, Text: old.text, Why: k.omission(packed, old.id)})
		case j >= there: // said by the sender, but not given to the receiver
			c.lose(lost(old, after[j], k.omission(packed, after[j].id)))
		case after[j].id == old.id && old.same(after[j]):
			c.Kept = append(c.Kept, old.id)
		default:
			c.Changed = append(c.Changed, change(old, after[j]))
		}
	}
	for j, e := range after {
		switch {
		case slices.Contains(link, j):
		case j < there:
			c.Added = append(c.Added, e.id)
		default:
			c.lose(Lost{ID: e.id, Text: e.text, Why: k.omission(packed, e.id)})
		}
	}
	return c
}

func (c *Changes) lose(l Lost) {
	if l.Why != "" {
		c.Omitted = append(c.Omitted, l)
	} else {
		c.Dropped = append(c.Dropped, l)
	}
}

// lost is an entry that the sender has as e, and the receiver not at all.
func lost(old, e entry, why string) Lost {
	l := Lost{ID: e.id, Text: e.text, Why: why}
	if c := change(old, e); old.id != e.id || !old.same(e) {
		l.Was, l.By, l.How, l.Before = c.Was, c.By, c.How, c.Before
	}
	return l
}

func change(old, e entry) Change {
	c := Change{ID: e.id, By: e.by, How: old.how(e), Before: old.text, After: e.text}
	if old.constraint.ID != "" {
		c.Before, c.After, c.By = old.text+old.limits(), e.text+e.limits(), e.setters(old)
	}
	if old.id != e.id {
		c.Was, c.How = old.id, Superseded
	}
	return c
}

// match returns, for each entry of before, the index in after of the entry with the same id, or else of the first that
// supersedes it, or else of the first that stands for it by its lineage; -1 for none.
func match(before, after []entry) []int {
	link := make([]int, len(before))
	for i, old := range before {
		link[i] = slices.IndexFunc(after, func(e entry) bool { return e.id == old.id })
	}
	for _, replaces := range []func(e entry, id string) bool{
		func(e entry, id string) bool { return e.supersedes == id },
		func(e entry, id string) bool { return slices.Contains(e.lineage, id) },
	} {
		for i, old := range before {
			if link[i] < 0 {
				link[i] = indexFree(after, link, func(e entry) bool { return replaces(e, old.id) })
			}
		}
	}
	return link
}

// indexFree returns the first index that fits and is not taken.
func indexFree(after []entry, taken []int, fits func(entry) bool) int {
	for j, e := range after {
		if fits(e) && !slices.Contains(taken, j) {
			return j
		}
	}
	return -1
}
