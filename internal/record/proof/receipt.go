package proof

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// A receipt is a text of inclusion proofs, one after the other: the entries of a handoff, each with its own bytes, all in the tree of one
// checkpoint.

// handoffEvents are the names of the events that a receipt of a handoff has.
var handoffEvents = []string{"handoff-request", "handoff-approved", "handoff-acknowledgment", "handoff-confirm", "handoff-complete"}

// handoffData is what a receipt shows of the data of those events.
type handoffData struct {
	Handoff  int       `json:"handoff"`
	From     string    `json:"from"`
	To       any       `json:"to"` // a list of names, in some
	Agent    string    `json:"agent"`
	Envelope string    `json:"envelope"`
	Digest   string    `json:"digest"`
	Epoch    uint64    `json:"epoch"`
	At       time.Time `json:"at"`
}

// InReceipt reports whether the receipt of a handoff has an entry of its task. n is the number of the handoff.
func InReceipt(e ledger.Entry, n int) bool {
	for _, ev := range e.Events {
		if d, ok := dataOf(ev); ok && d.Handoff == n {
			return true
		}
	}
	return false
}

func dataOf(ev ledger.Event) (d handoffData, ok bool) {
	if !slices.Contains(handoffEvents, ev.Name) || ev.Data == nil {
		return d, false
	}
	return d, json.Unmarshal(ev.Data, &d) == nil
}

// Proven is an entry of a receipt that is in the record.
type Proven struct {
	Position ledger.Position `json:"position"`
	Time     time.Time       `json:"time"`
	Stream   ledger.Stream   `json:"stream"`
	Actor    string          `json:"actor"`
	Events   []string        `json:"events"`

	version uint64 // in its stream; 0: it has none
}

// Handoff is what a receipt shows of a handoff. What the receipt does not show is zero.
type Handoff struct {
	ID       string    `json:"id"`
	From     string    `json:"from,omitempty"`
	Asked    time.Time `json:"asked,omitzero"`
	Envelope string    `json:"envelope,omitempty"` // the digest of what was handed over
	To       string    `json:"to,omitempty"`       // the receiver that accepted
	Accepted time.Time `json:"accepted,omitzero"`
	Moved    time.Time `json:"moved,omitzero"` // ownership
	Epoch    uint64    `json:"epoch,omitempty"`
}

// Receipt is what a receipt proves.
type Receipt struct {
	Log        string     `json:"log"`
	Checkpoint Checkpoint `json:"-"`
	Notes      [][]byte   `json:"-"`    // the checkpoint as its proofs have it: one, unless their signatures differ
	Size       int64      `json:"size"` // of the checkpoint
	Entries    []Proven   `json:"entries"`
	Handoffs   []Handoff  `json:"handoffs"`
}

// VerifyReceipt verifies a receipt with the public keys of the log. Errors: ErrProof, ErrCheckpoint, ErrSignature.
func VerifyReceipt(text []byte, keys Keys) (Receipt, error) {
	return ReadReceipt(bytes.NewReader(text), keys)
}

// ReadReceipt is [VerifyReceipt] for a receipt or an export of any length. Errors: also those of the reader.
func ReadReceipt(from io.Reader, keys Keys) (Receipt, error) {
	r := Receipt{Entries: []Proven{}, Handoffs: []Handoff{}}
	for p, err := range Inclusions(from) {
		if err != nil {
			return r, err
		}
		if err := r.open(p.Checkpoint, keys); err != nil {
			return r, err
		}
		if err := p.Check(r.Checkpoint); err != nil {
			return r, err
		}
		e, err := ledger.Decode(p.Entry)
		if err != nil {
			return r, fmt.Errorf("%w: entry %d: %w", ErrProof, p.Index+1, err)
		}
		e.Position = ledger.Position(p.Index + 1) //nolint:gosec // never negative
		if n := len(r.Entries); n > 0 && r.Entries[n-1].Position >= e.Position {
			return r, fmt.Errorf("%w: its entries are not in the order of the record", ErrProof)
		}
		if what := checkContent(&e); what != "" {
			return r, fmt.Errorf("%w: entry %d: %s", ErrProof, e.Position, what)
		}
		r.add(e)
	}
	return r, nil
}

// open verifies the checkpoint of a proof, unless it is the one before, byte by byte.
func (r *Receipt) open(note []byte, keys Keys) error {
	if n := len(r.Notes); n > 0 && bytes.Equal(r.Notes[n-1], note) {
		return nil
	}
	c, err := OpenCheckpoint(note, keys)
	if err != nil {
		return err
	}
	if len(r.Notes) > 0 && c != r.Checkpoint {
		return fmt.Errorf("%w: its entries are in the trees of different checkpoints", ErrProof)
	}
	r.Log, r.Checkpoint, r.Size, r.Notes = c.Origin, c, c.Size, append(r.Notes, note)
	return nil
}

// Incomplete is a stream of which a receipt lacks entries before the last that it has.
type Incomplete struct {
	Stream ledger.Stream `json:"stream"`
	Has    uint64        `json:"has"` // of the entries from 1 to Last
	Last   uint64        `json:"last"`
}

// Streams is the number of streams of which the receipt has entries, and those that are incomplete. What it lacks after the last entry of a stream
// cannot be told; streams whose entries are not numbered are not counted.
func (r *Receipt) Streams() (n int, lacking []Incomplete) {
	at := map[ledger.Stream]int{}
	var all []Incomplete
	for _, e := range r.Entries {
		if e.version == 0 {
			continue
		}
		i, ok := at[e.Stream]
		if !ok {
			i = len(all)
			at[e.Stream] = i
			all = append(all, Incomplete{Stream: e.Stream})
		}
		all[i].Has++
		all[i].Last = e.version
	}
	for _, s := range all {
		if s.Has < s.Last {
			lacking = append(lacking, s)
		}
	}
	return len(all), lacking
}

// add adds an entry that was verified.
func (r *Receipt) add(e ledger.Entry) {
	p := Proven{Position: e.Position, Time: e.Time, Stream: e.Stream, Actor: e.Actor.Principal, version: e.Version}
	_, kind, task := e.Stream.Parts()
	for _, ev := range e.Events {
		p.Events = append(p.Events, ev.Name)
		if d, ok := dataOf(ev); ok && kind == "task" {
			r.handoff(fmt.Sprintf("%s.h%d", task, d.Handoff)).add(ev.Name, d, e.Time)
		}
	}
	r.Entries = append(r.Entries, p)
}

func (r *Receipt) handoff(id string) *Handoff {
	for i := range r.Handoffs {
		if r.Handoffs[i].ID == id {
			return &r.Handoffs[i]
		}
	}
	r.Handoffs = append(r.Handoffs, Handoff{ID: id})
	return &r.Handoffs[len(r.Handoffs)-1]
}

func (h *Handoff) add(event string, d handoffData, at time.Time) {
	switch event {
	case "handoff-request":
		h.From, h.Asked, h.Envelope = d.From, at, d.Envelope
	case "handoff-acknowledgment":
		h.To, h.Accepted = d.Agent, at
	case "handoff-complete":
		h.Moved, h.Epoch = at, d.Epoch
		if to, ok := d.To.(string); ok {
			h.To = to
		}
	}
}
