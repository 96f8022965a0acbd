package drift

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

// Report is what a whole chain of envelopes kept and lost.
type Report struct {
	Hops      []Hop     `json:"hops"`
	Retention Retention `json:"retention"`
}

// Retention is how much of what was ever said reached the last envelope.
//
// An entry is followed from the envelope that first has it: by its id, and to the entry that supersedes it in its
// place. Its line survives if the last envelope has the entry or what it became. The rate of a kind is the number of
// lines that survive, divided by the number of lines that began anywhere in the chain; 1 if none did. Overall counts
// the lines of all kinds and the intent, as one more line that survives only if every envelope has it byte for byte.
//
// An entry that comes back under its id after a gap survives. One that was left out on record does not: it is counted
// in Omitted, because it can be fetched.
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
	// Verbatim are those of Surviving that say exactly what they said first.
	Verbatim int `json:"verbatim"`
	// Omitted are those that do not survive, but that the last envelope lists as left out or as a gap.
	Omitted int `json:"omitted,omitempty"`
	// Rate is Surviving by Introduced, 0 to 1.
	Rate float64 `json:"rate"`
}

func (s *Kept) add(o Kept) {
	s.Introduced += o.Introduced
	s.Surviving += o.Surviving
	s.Verbatim += o.Verbatim
	s.Omitted += o.Omitted
}

func (s Kept) rated() Kept {
	s.Rate = 1
	if s.Introduced > 0 {
		s.Rate = float64(s.Surviving) / float64(s.Introduced)
	}
	return s
}

// Of reports on a task's envelopes, oldest first. A chain of one envelope, or of none, has no hops and loses nothing.
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
	for k, share := range map[kind]*Kept{
		facts: &r.Facts, decisions: &r.Decisions, constraints: &r.Constraints, references: &r.References,
	} {
		*share = k.share(chain).rated()
		overall.add(*share)
	}
	r.Overall = overall.rated()
	return r
}

// Given reports on a task whose receivers were each given a rendition of what was said: given[i] is what the receiver of
// said[i] got, said[i] itself where nothing was packed. Each hop compares what had been said before, and what its sender
// added, with what was given next, so what a rendition left out is omitted at its hop, and not dropped for good. Retention
// is of all that was ever said in what was given last.
func Given(said, given []envelope.Envelope) Report {
	n := len(said)
	if n == 0 || len(given) != n {
		return Of(said)
	}
	r := Report{Hops: []Hop{}, Retention: retention(append(slices.Clip(said), given[n-1]))}
	for i := 1; i < n; i++ {
		hop := compare(said[i-1], said[i], given[i])
		hop.Number = i
		r.Hops = append(r.Hops, hop)
	}
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

// line is one entry through the chain.
type line struct {
	first entry
	id    string // under which it goes now
}

// share follows every entry of a kind.
func (k kind) share(chain []envelope.Envelope) Kept {
	var lines []*line
	byID := map[string]*line{} // every id a line ever had
	var before []entry
	for _, e := range chain {
		after := k.of(e)
		link := match(before, after)
		for i, j := range link {
			if j >= 0 && before[i].id != after[j].id && byID[after[j].id] == nil {
				l := byID[before[i].id]
				l.id = after[j].id
				byID[l.id] = l
			}
		}
		for _, entry := range after {
			if byID[entry.id] == nil {
				l := &line{first: entry, id: entry.id}
				lines, byID[entry.id] = append(lines, l), l
			}
		}
		before = after
	}
	if len(chain) == 0 {
		return Kept{}
	}
	return k.count(lines, byID, chain[len(chain)-1])
}

// count says how many lines reach the last envelope.
func (k kind) count(lines []*line, byID map[string]*line, last envelope.Envelope) Kept {
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
		case k.omission(last, l.id) != "":
			s.Omitted++
		}
	}
	return s
}
