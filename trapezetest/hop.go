package trapezetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// Entry is a constraint, a fact or a decision.
type Entry struct {
	Kind string // constraint, fact or decision
	ID   string
	Text string
}

func (e Entry) String() string { return fmt.Sprintf("%s %s %q", e.Kind, e.ID, e.Text) }

// Loss is an entry that did not reach the receiver of a hop as it was before.
type Loss struct {
	Entry        // as it was
	How   string // reworded, superseded, omitted or dropped
	Now   string // the new text, if it was reworded or superseded
	Why   string // the reason for an omission: budget, on_demand, …
}

func (l Loss) String() string {
	switch {
	case l.Now != "":
		return fmt.Sprintf("%s was %s: now %q", l.Entry, l.How, l.Now)
	case l.Why != "":
		return fmt.Sprintf("%s was %s (%s)", l.Entry, l.How, l.Why)
	}
	return fmt.Sprintf("%s was %s", l.Entry, l.How)
}

// Hop is one change of hands: what the receiver was given, compared with everything that was said before.
type Hop struct {
	Number   int // from 1
	From, To string
	Kind     client.Kind
	Reason   client.Reason
	At       time.Time // by the server's clock

	Tokens, Budget int  // of the receiver's prompt; 0: not counted, and no limit
	IntentKept     bool // the receiver was given the intent of the task, byte for byte
	// Trace is the W3C traceparent that the receiver was given, so that it can continue the sender's trace; empty: none.
	Trace string
	Kept  []Entry
	Added []Entry // by the sender
	Lost  []Loss  // at this hop; what was lost before is not listed again
}

// document is the part of an envelope that is compared.
type document struct {
	Handoff struct {
		Kind   client.Kind   `json:"kind"`
		Reason client.Reason `json:"reason"`
	} `json:"handoff"`
	Task struct {
		Intent string `json:"intent"`
	} `json:"task"`
	Trace struct {
		Parent string `json:"traceparent"`
	} `json:"trace"`
	Constraints []client.Point `json:"constraints"`
	Facts       []client.Point `json:"key_facts"`
	Decisions   []client.Point `json:"decisions"`
	Omissions   []struct {
		Kind   string `json:"kind"`
		ID     string `json:"id"`
		Reason string `json:"reason"`
	} `json:"omissions"`
}

// entries are the entries of a document with what each supersedes.
func (d document) entries() (list []Entry, supersedes []string) {
	for _, kind := range []struct {
		name   string
		points []client.Point
	}{{"constraint", d.Constraints}, {"fact", d.Facts}, {"decision", d.Decisions}} {
		for _, p := range kind.points {
			list, supersedes = append(list, Entry{kind.name, p.ID, p.Text}), append(supersedes, p.Supersedes)
		}
	}
	return list, supersedes
}

// omission is why an entry is listed as omitted; empty: it is not.
func (d document) omission(e Entry) string {
	for _, o := range d.Omissions {
		if o.Kind == e.Kind && (o.ID == e.ID || o.ID == "") {
			return cmp.Or(o.Reason, "omitted")
		}
	}
	return ""
}

// details are those of the events that make a hop.
type details struct {
	Intent   string          `json:"intent"`
	Digest   string          `json:"digest"`
	Envelope json.RawMessage `json:"envelope"` // bytes, or the digest as a text
	Handoff  int             `json:"handoff"`
	From     string          `json:"from"`
	To       string          `json:"to"`
	Tokens   int             `json:"tokens"`
	Budget   int             `json:"budget"`
	Share    int             `json:"share"`
}

// hopsOf finds the changes of hands in a record.
func hopsOf(trail client.Trail) (hops []Hop, err error) {
	b := builder{sealed: map[string]document{}, byHandoff: map[int]int{}}
	for _, e := range trail.Entries {
		var d details
		switch e.Event {
		case "task-created", "envelope-sealed", "handoff-complete", "envelope-rendered":
			if err := json.Unmarshal(e.Details, &d); err != nil {
				return nil, fmt.Errorf("entry %d, %s: %w", e.Position, e.Event, err)
			}
		default:
			continue
		}
		if err := b.add(e, d); err != nil {
			return nil, fmt.Errorf("entry %d, %s: %w", e.Position, e.Event, err)
		}
	}
	b.compare()
	return b.hops, nil
}

// builder makes the hops of a record.
type builder struct {
	intent    string
	sealed    map[string]document // by digest
	hops      []Hop
	said      []document // by hop: what the sender gave
	given     []document // by hop: what the receiver got of it
	byHandoff map[int]int
}

func (b *builder) add(e client.AuditEntry, d details) error {
	switch e.Event {
	case "task-created":
		b.intent = d.Intent
	case "envelope-sealed":
		var doc document
		if err := json.Unmarshal(d.Envelope, &doc); err != nil {
			return err
		}
		b.sealed[d.Digest] = doc
	case "handoff-complete":
		var digest string
		if len(d.Envelope) > 0 {
			if err := json.Unmarshal(d.Envelope, &digest); err != nil {
				return err
			}
		}
		doc := b.sealed[digest]
		b.byHandoff[d.Handoff] = len(b.hops)
		b.hops = append(b.hops, Hop{Number: len(b.hops) + 1, From: d.From, To: d.To, Kind: doc.Handoff.Kind, Reason: doc.Handoff.Reason, At: e.Timestamp})
		b.said, b.given = append(b.said, doc), append(b.given, doc)
	case "envelope-rendered":
		i, ok := b.byHandoff[d.Handoff]
		if !ok || d.Share != 0 {
			return nil
		}
		b.hops[i].Tokens, b.hops[i].Budget = d.Tokens, d.Budget
		if len(d.Envelope) > 0 {
			var doc document
			if err := json.Unmarshal(d.Envelope, &doc); err != nil {
				return err
			}
			b.given[i] = doc
		}
	}
	return nil
}

// compare finds what each hop kept, added and lost.
func (b *builder) compare() {
	var before []Entry // what the last receiver was given, and what its predecessors said
	for i := range b.hops {
		hop := &b.hops[i]
		hop.IntentKept, hop.Trace = b.given[i].Task.Intent == b.intent, b.given[i].Trace.Parent
		said, supersedes := b.said[i].entries()
		given, _ := b.given[i].entries()
		for _, e := range before {
			hop.follow(e, said, supersedes, given, b.given[i])
		}
		for _, e := range said {
			if slices.ContainsFunc(before, e.same) {
				continue
			}
			hop.Added = append(hop.Added, e)
			if !slices.ContainsFunc(given, e.same) {
				hop.lose(e, b.given[i])
			}
		}
		before = said
	}
}

// same reports whether two entries have the same kind and id.
func (e Entry) same(o Entry) bool { return e.Kind == o.Kind && e.ID == o.ID }

// follow sees what has become of an entry.
func (h *Hop) follow(e Entry, said []Entry, supersedes []string, given []Entry, doc document) {
	if i := slices.IndexFunc(given, e.same); i >= 0 {
		if given[i].Text == e.Text {
			h.Kept = append(h.Kept, e)
			return
		}
		h.Lost = append(h.Lost, Loss{Entry: e, How: "reworded", Now: given[i].Text})
		return
	}
	for i, id := range supersedes {
		if id == e.ID && said[i].Kind == e.Kind {
			h.Lost = append(h.Lost, Loss{Entry: e, How: "superseded", Now: said[i].Text})
			return
		}
	}
	h.lose(e, doc)
}

func (h *Hop) lose(e Entry, doc document) {
	if why := doc.omission(e); why != "" {
		h.Lost = append(h.Lost, Loss{Entry: e, How: "omitted", Why: why})
		return
	}
	h.Lost = append(h.Lost, Loss{Entry: e, How: "dropped"})
}
