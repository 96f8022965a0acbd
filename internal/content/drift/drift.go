package drift

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

// Hop is what happened to the content of one envelope on its way into the next.
type Hop struct {
	// Number counts from 1. Parent is the digest that the later envelope names; From and To are its sender and
	// receivers.
	Number int      `json:"hop,omitempty"`
	Parent string   `json:"parent,omitempty"`
	From   string   `json:"from"`
	To     []string `json:"to,omitempty"`
	// IntentKept is whether the intent is the same, byte for byte.
	IntentKept  bool    `json:"intent_kept"`
	Facts       Changes `json:"facts"`
	Decisions   Changes `json:"decisions"`
	Constraints Changes `json:"constraints"`
	// References are memory items by id, and files by the digest of their content.
	References Changes `json:"references"`
	// Tokens, Budget and Utilisation (0 to 1) are the later envelope's, if it was packed.
	Tokens      int     `json:"tokens,omitempty"`
	Budget      int     `json:"budget,omitempty"`
	Utilisation float64 `json:"utilisation,omitempty"`
}

// Changes sorts the entries of one kind. Each list is in the order of its envelope.
type Changes struct {
	Kept    []string `json:"kept,omitempty"`
	Changed []Change `json:"changed,omitempty"`
	Omitted []Lost   `json:"omitted,omitempty"` // left out on record
	Dropped []Lost   `json:"dropped,omitempty"` // not there, and nothing says why
	Added   []string `json:"added,omitempty"`
}

// Change is one entry that came through and says something else.
type Change struct {
	ID string `json:"id"`
	// Was is the id before, if another one superseded it.
	Was string `json:"was,omitempty"`
	// How it changed.
	How    How    `json:"how"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// How is the way in which an entry changed.
type How string

// The ways.
const (
	Reworded   How = "reworded"   // other words under the same id
	Superseded How = "superseded" // by an entry that names it
	Tightened  How = "tightened"  // a constraint that asks for more
	Loosened   How = "loosened"   // a constraint that asks for less, or for something else
	Revised    How = "revised"    // a reference to another version
)

// Lost is one entry that is not there any more.
type Lost struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// Why it was left out, if that is on record.
	Why string `json:"why,omitempty"`
}

// Compare says what became of prev in next.
func Compare(prev, next envelope.Envelope) Hop { return compare(prev, next, next) }

// compare says what became of prev, and of what was added to it in said, in what the receiver of said was given.
func compare(prev, said, given envelope.Envelope) Hop {
	h := Hop{
		Parent: given.Parent, From: given.Handoff.From, To: slices.Clone(given.Handoff.To),
		IntentKept: prev.Task.Intent == given.Task.Intent,
		Tokens:     given.Packing.Tokens, Budget: given.Packing.Budget, Utilisation: given.Packing.Utilisation,
	}
	for k, changes := range h.kinds() {
		*changes = k.compare(prev, said, given)
	}
	return h
}

// kinds pairs every kind with its place in a hop.
func (h *Hop) kinds() map[kind]*Changes {
	return map[kind]*Changes{
		facts: &h.Facts, decisions: &h.Decisions, constraints: &h.Constraints, references: &h.References,
	}
}

func (k kind) compare(prev, said, given envelope.Envelope) (c Changes) {
	before, after := k.of(prev), k.of(given)
	there := len(after)
	for _, e := range k.of(said) {
		if !slices.ContainsFunc(after[:there], func(g entry) bool { return g.id == e.id }) {
			after = append(after, e)
		}
	}
	link := match(before, after)
	for i, old := range before {
		j := link[i]
		switch {
		case j < 0:
			c.lose(old, k.omission(given, old.id))
		case j >= there: // what became of it was said and not given
			c.lose(old, k.omission(given, after[j].id))
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
			c.lose(e, k.omission(given, e.id))
		}
	}
	return c
}

func (c *Changes) lose(e entry, why string) {
	lost := Lost{ID: e.id, Text: e.text, Why: why}
	if why != "" {
		c.Omitted = append(c.Omitted, lost)
	} else {
		c.Dropped = append(c.Dropped, lost)
	}
}

func change(old, e entry) Change {
	c := Change{ID: e.id, How: old.how(e), Before: old.text, After: e.text}
	if old.id != e.id {
		c.Was, c.How = old.id, Superseded
	}
	return c
}

// match finds where each entry went: the place in after of the one with its id, else of the first that supersedes it;
// -1 if it is gone.
func match(before, after []entry) []int {
	link := make([]int, len(before))
	for i, old := range before {
		link[i] = slices.IndexFunc(after, func(e entry) bool { return e.id == old.id })
	}
	for i, old := range before {
		if link[i] < 0 {
			link[i] = indexFree(after, link, func(e entry) bool { return e.supersedes == old.id })
		}
	}
	return link
}

// indexFree is the first place that is not taken.
func indexFree(after []entry, taken []int, fits func(entry) bool) int {
	for j, e := range after {
		if fits(e) && !slices.Contains(taken, j) {
			return j
		}
	}
	return -1
}
