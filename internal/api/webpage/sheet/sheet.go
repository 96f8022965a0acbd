package sheet

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Envelope is the fields of an envelope that are compared.
type Envelope struct {
	Task struct {
		Intent string          `json:"intent"`
		Ask    string          `json:"ask"`
		State  string          `json:"state"`
		Data   json.RawMessage `json:"data"`
	} `json:"task"`
	Summary     string       `json:"conversation_summary"`
	Questions   []string     `json:"open_questions"`
	TextBy      Authors      `json:"text_by"`
	Facts       []Point      `json:"key_facts"`
	Decisions   []Point      `json:"decisions"`
	Constraints []Constraint `json:"constraints"`
	Memory      []struct {
		ID string `json:"id"`
	} `json:"memory"`
	Omissions []Omission `json:"omissions"`
	Dropped   []struct {
		Kind  string `json:"kind"`
		Count int    `json:"count"`
	} `json:"dropped"`
	Packing *Packing `json:"packing"`
}

// Left is all that the receiver does not have: what was omitted, what a bound kept out, and what was given with a handoff that is cold.
func (e Envelope) Left() []Omission {
	all := slices.Clone(e.Omissions)
	for _, d := range e.Dropped {
		o := Omission{Kind: d.Kind, Count: d.Count, Reason: "bound"}
		for _, cold := range []string{"sent_", "cold_"} { // given with it, and had before it
			if kind, is := strings.CutPrefix(d.Kind, cold); is {
				o.Kind, o.Reason = kind, "cold"
			}
		}
		if at := slices.IndexFunc(all, func(is Omission) bool { return is.Reason == "cold" && is.Kind == o.Kind && o.Reason == "cold" }); at >= 0 {
			all[at].Count += o.Count
			continue
		}
		all = append(all, o)
	}
	return all
}

// Items are the ids of the memory items that the envelope has: one that is forgotten is in it no more.
func (e Envelope) Items() (ids []string) {
	for _, m := range e.Memory {
		ids = append(ids, m.ID)
	}
	return ids
}

// Authors names who wrote the texts that come from an earlier sender: empty of those of the sender.
type Authors struct {
	Ask       string `json:"ask"`
	State     string `json:"state"`
	Data      string `json:"data"`
	Summary   string `json:"conversation_summary"`
	Questions string `json:"open_questions"`
}

// Point is a fact or a decision.
type Point struct {
	ID         string   `json:"id"`
	Text       string   `json:"text"`
	By         string   `json:"by"`
	Supersedes string   `json:"supersedes"`
	Lineage    []string `json:"lineage"`
}

// Constraint is a limit on what the receiver may do.
type Constraint struct {
	ID     string    `json:"id"`
	Text   string    `json:"text"`
	TextBy string    `json:"text_by"` // if not who set it
	Allow  *[]string `json:"allow"`
	Max    *float64  `json:"max"`
}

// Omission is an entry that was left out for the receiver, or several of a kind.
type Omission struct {
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Count  int    `json:"count"`
	Tokens int    `json:"tokens"`
	Reason string `json:"reason"`
}

// Packing is how the envelope was packed for the context window of its receiver.
type Packing struct {
	Tokens       int     `json:"tokens"`
	Budget       int     `json:"budget"`
	Strategy     string  `json:"strategy"`
	Completeness float64 `json:"completeness"`
}

// Difference is one entry of two envelopes.
type Difference struct {
	Kind   string
	ID     string
	A, B   Text
	Fate   string // kept, changed, added or dropped; omitted if the second lists it as left out
	Reason string // of an omission; of a change, what replaced it
}

// Marks are the two texts as they differ, if the entry has changed and is shown in full.
func (d Difference) Marks() (both [2]*Parts) {
	if d.Fate == "changed" && d.Kind != "data" {
		a, b := Apart(d.A.Text, d.B.Text)
		both = [2]*Parts{&a, &b}
	}
	return both
}

// Text is a text with its author, if it is neither the sender nor who set the entry.
type Text struct {
	Text, By string
}

// Entry is an entry of an envelope, for a comparison.
type Entry struct {
	Kind, ID string
	Text
	replaced []string // ids of what it replaced, newest first
}

// Entries are the entries of an envelope that have a text: what was asked, questions, constraints, facts and decisions.
func (e Envelope) Entries() (all []Entry) {
	by := e.TextBy
	for _, one := range []Entry{
		{Kind: "intent", Text: Text{Text: e.Task.Intent}},
		{Kind: "ask", Text: Text{e.Task.Ask, by.Ask}},
		{Kind: "state", Text: Text{e.Task.State, by.State}},
		{Kind: "data", Text: Text{string(e.Task.Data), by.Data}},
		{Kind: "summary", Text: Text{e.Summary, by.Summary}},
		{Kind: "questions", Text: Text{strings.Join(e.Questions, "\n"), by.Questions}},
	} {
		if one.Text.Text != "" {
			all = append(all, one)
		}
	}
	for _, c := range e.Constraints {
		text := c.Text
		if c.Allow != nil {
			text += fmt.Sprintf(" allow %q", *c.Allow)
		}
		if c.Max != nil {
			text += fmt.Sprintf(" max %v", *c.Max)
		}
		all = append(all, Entry{Kind: "constraint", ID: c.ID, Text: Text{text, c.TextBy}})
	}
	for _, f := range e.Facts {
		all = append(all, f.entry("fact"))
	}
	for _, d := range e.Decisions {
		all = append(all, d.entry("decision"))
	}
	return all
}

func (p Point) entry(kind string) Entry {
	e := Entry{Kind: kind, ID: p.ID, Text: Text{Text: p.Text}, replaced: p.Lineage}
	if p.Supersedes != "" {
		e.replaced = append([]string{p.Supersedes}, p.Lineage...)
	}
	return e
}

// Compare compares two envelopes entry by entry, in the order of the first, then what the second adds.
func Compare(a, b Envelope) (rows []Difference) {
	leftBefore, left := a.left(), b.left()
	later, replaces := map[string]Text{}, map[string]Entry{}
	for _, e := range b.Entries() {
		later[e.Kind+":"+e.ID] = e.Text
		for _, id := range e.replaced {
			replaces[e.Kind+":"+id] = e
		}
	}
	before := map[string]bool{}
	for _, e := range a.Entries() {
		key := e.Kind + ":" + e.ID
		before[key] = true
		row := Difference{Kind: e.Kind, ID: e.ID, A: e.Text, Fate: "dropped"}
		if text, ok := later[key]; ok {
			row.B, row.Fate = text, "kept"
			if text.Text != e.Text.Text {
				row.Fate = "changed"
			}
		} else if by, ok := replaces[key]; ok {
			row.B, row.Fate, row.Reason = by.Text, "changed", "replaced by "+by.ID
			before[by.Kind+":"+by.ID] = true
		} else if why, ok := left(e); ok {
			row.Fate, row.Reason = "omitted", Because(why)
		}
		rows = append(rows, row)
	}
	for _, e := range b.Entries() {
		if !before[e.Kind+":"+e.ID] {
			row := Difference{Kind: e.Kind, ID: e.ID, B: e.Text, Fate: "added"}
			if why, ok := leftBefore(e); ok {
				row.Reason = "left out before, " + Because(why)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// left returns why an entry was left out of an envelope: listed by its id, or counted with others of its kind.
func (e Envelope) left() func(Entry) (why string, ok bool) {
	reasons := map[string]string{}
	for _, o := range e.Omissions {
		reasons[o.Kind+":"+o.ID] = o.Reason
	}
	return func(one Entry) (string, bool) {
		why, ok := reasons[one.Kind+":"+one.ID]
		if !ok {
			why, ok = reasons[one.Kind+":"]
		}
		return why, ok
	}
}
