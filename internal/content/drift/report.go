package drift

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

// Report says what a whole chain of envelopes kept and lost.
type Report struct {
	Hops      []Hop     `json:"hops"`
	Retention Retention `json:"retention"`
}

// Retention is the share of all entries of a chain that reached the last envelope.
//
// An entry is followed from the first envelope that has it: by its id, and to the entry by which its own author supersedes it.
// Its line survives if the last envelope has the entry or its successor. An entry that another author superseded, or reworded under
// its id, is replaced: it does not survive, and what replaced it is a line of its own. The rate of a kind is the number of lines that survive
// divided by the number of lines that began anywhere in the chain; 1 if none did. Overall counts the lines of all kinds and
// the intent, as one more line that survives only if every envelope has it byte for byte.
//
// An entry that returns under its id after a gap survives. A fact or decision that was dropped, and returns with another text, is another entry:
// after a cold handoff ids begin again. An omitted one does not survive: it is counted in Omitted, because it can be fetched.
type Retention struct {
	Overall     Kept `json:"overall"`
	Intent      Kept `json:"intent"`
	Facts       Kept `json:"facts"`
	Decisions   Kept `json:"decisions"`
	Constraints Kept `json:"constraints"`
	References  Kept `json:"references"`
}

// Kept is the retention of one kind, in lines of entries.
type Kept struct {
	Introduced int `json:"introduced"`
	Surviving  int `json:"surviving"`
	// Verbatim is the number of surviving lines whose last text equals the first.
	Verbatim int `json:"verbatim"`
	// Omitted is the number of lines that do not survive but that the last envelope lists as an omission or a gap.
	Omitted int `json:"omitted,omitempty"`
	// Replaced is the number of lines that ended because another author superseded or reworded them.
	Replaced int `json:"replaced,omitempty"`
	// Rate is Surviving divided by Introduced, 0 to 1.
	Rate float64 `json:"rate"`
}

func (s *Kept) add(o Kept) {
	s.Introduced += o.Introduced
	s.Surviving += o.Surviving
	s.Verbatim += o.Verbatim
	s.Omitted += o.Omitted
	s.Replaced += o.Replaced
}

func (s Kept) rated() Kept {
	s.Rate = 1
	if s.Introduced > 0 {
		s.Rate = float64(s.Surviving) / float64(s.Introduced)
	}
	return s
}

// Of reports on the envelopes of a task, oldest first. A chain of at most one envelope has no hops and loses nothing.
func Of(chain []envelope.Envelope) Report {
	r := Report{Hops: []Hop{}}
	for i := 1; i < len(chain); i++ {
		hop := Compare(chain[i-1], chain[i])
		hop.Number = i
		r.Hops = append(r.Hops, hop)
	}
	r.Retention = retention(chain)
	return r
}

func retention(chain []envelope.Envelope) (r Retention) {
	r.Intent = intentShare(chain).rated()
	overall := r.Intent
	for k, share := range map[entryKind]*Kept{
		facts: &r.Facts, decisions: &r.Decisions, constraints: &r.Constraints, references: &r.References,
	} {
		*share = k.share(chain).rated()
		overall.add(*share)
	}
	r.Overall = overall.rated()
	return r
}

// OfPacked reports on a task whose receivers were given packed envelopes: packed[i] is what the receiver of full[i] was
// given, full[i] itself if it was not packed. Each hop compares the full envelope before it, and the additions of its
// sender, with the packed one after it: an entry that packing omitted is omitted at that hop only, and not dropped for
// good. Retention is the share of all entries of full that are in the last packed envelope. lifts are those of constraints of the task,
// oldest first: what they lifted is neither dropped nor loosened.
func OfPacked(full, packed []envelope.Envelope, lifts ...Lift) Report {
	n := len(full)
	if n == 0 || len(packed) != n {
		return Of(full)
	}
	r := Report{Hops: []Hop{}, Retention: retention(append(slices.Clip(full), packed[n-1]))}
	for i := 1; i < n; i++ {
		hop := compare(full[i-1], full[i], packed[i])
		hop.Number = i
		r.Hops = append(r.Hops, hop)
	}
	r.withLifts(full, packed, lifts)
	return r
}

func intentShare(chain []envelope.Envelope) Kept {
	if len(chain) == 0 {
		return Kept{}
	}
	for _, e := range chain {
		if e.Task.Intent != chain[0].Task.Intent {
			return Kept{Introduced: 1}
		}
	}
	return Kept{Introduced: 1, Surviving: 1, Verbatim: 1}
}

// line is one entry followed through the chain.
type line struct {
	first    entry
	last     entry  // as the last envelope that has it says it
	id       string // its current id
	by       string // the author of a fact or decision
	replaced bool   // by an entry of another author
	dropped  bool   // an envelope since is without it, and does not list it as an omission
}

// share follows every entry of a kind.
func (k entryKind) share(chain []envelope.Envelope) Kept {
	var lines []*line
	byID := map[string]*line{} // every id that a line ever had
	var before []entry
	for _, e := range chain {
		after := k.of(e)
		link := match(before, after)
		for i, j := range link {
			if j >= 0 && before[i].id != after[j].id && byID[after[j].id] == nil {
				l := byID[before[i].id]
				if l.by != after[j].by {
					l.replaced = true
					continue
				}
				l.id = after[j].id
				byID[l.id] = l
			}
		}
		for _, entry := range after {
			l := byID[entry.id]
			if l != nil && !l.dropped && l.by != entry.by && !entry.same(l.last) {
				l.replaced = true
			}
			if l == nil || (l.dropped || l.replaced) && !entry.same(l.last) {
				l = &line{first: entry, id: entry.id, by: entry.by}
				lines, byID[entry.id] = append(lines, l), l
			}
			l.last, l.dropped = entry, false
		}
		for _, old := range before {
			if l := byID[old.id]; l.last.id == old.id && !slices.ContainsFunc(after, func(e entry) bool { return byID[e.id] == l }) {
				l.dropped = (k == facts || k == decisions) && k.omission(e, old.id) == ""
			}
		}
		before = after
	}
	if len(chain) == 0 {
		return Kept{}
	}
	return k.count(lines, byID, chain[len(chain)-1])
}

// count counts the lines that reach the last envelope.
func (k entryKind) count(lines []*line, byID map[string]*line, last envelope.Envelope) Kept {
	there := map[*line]entry{}
	for _, e := range k.of(last) {
		there[byID[e.id]] = e
	}
	s := Kept{Introduced: len(lines)}
	for _, l := range lines {
		e, ok := there[l]
		switch {
		case ok && e.same(l.first):
			s.Surviving++
			s.Verbatim++
		case ok:
			s.Surviving++
		case l.replaced:
			s.Replaced++
		case k.omission(last, l.id) != "":
			s.Omitted++
		}
	}
	return s
}
