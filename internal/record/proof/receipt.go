package proof

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// A receipt is a text of inclusion proofs, one after the other: the entries of a handoff, each with its own bytes, all in the tree of one
// checkpoint.

// handoffEvents are the names of the events that a receipt of a handoff has: its steps and its end.
var handoffEvents = []string{
	"handoff-request", "handoff-approved", "handoff-denied", "handoff-acknowledgment", "handoff-rejected", "handoff-confirm", "handoff-complete", "handoff-returned",
}

// handoffData is what a receipt shows of the data of those events, and of "envelope-rendered".
type handoffData struct {
	Handoff  int             `json:"handoff"` // 0 in an approval and a denial, which are of the last request
	From     string          `json:"from"`
	Recovery bool            `json:"recovery"`
	By       string          `json:"by"`
	To       json.RawMessage `json:"to"` // a list of names, in some
	Agent    string          `json:"agent"`
	Envelope json.RawMessage `json:"envelope"` // its digest, or itself
	Digest   string          `json:"digest"`
	Epoch    uint64          `json:"epoch"`
	Outcome  string          `json:"outcome"`
}

// HandoffEntries selects the entries of one handoff among those of its task, in the order of the record.
type HandoffEntries struct {
	Number int // of the handoff
	last   int // the last that was requested
}

// Has reports whether the receipt of the handoff has the next entry of the task.
func (s *HandoffEntries) Has(e ledger.Entry) (has bool) {
	for _, ev := range e.Events {
		if d, ok := dataOf(ev); ok && slices.Contains(handoffEvents, ev.Name) {
			has = has || d.of(ev.Name, &s.last) == s.Number
		}
	}
	return has
}

func dataOf(ev ledger.Event) (d handoffData, ok bool) {
	if ev.Name != "envelope-rendered" && !slices.Contains(handoffEvents, ev.Name) || ev.Data == nil {
		return d, false
	}
	return d, json.Unmarshal(ev.Data, &d) == nil
}

// of returns the number of the handoff of an event of a task, of which last is the one last requested; 0 if it cannot be told.
func (d *handoffData) of(event string, last *int) int {
	if event == "handoff-request" {
		*last = d.Handoff
	}
	return cmp.Or(d.Handoff, *last)
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

// Handoff is what a receipt shows of a handoff. What the receipt does not show is zero. Agents are named without "agent/".
type Handoff struct {
	ID       string    `json:"id"`
	From     string    `json:"from,omitempty"`     // whose task it was
	AskedBy  string    `json:"asked_by,omitempty"` // the principal that asked, which is not always the owner
	Recovery bool      `json:"recovery,omitempty"` // the server asked, since the owner did not go on
	Asked    time.Time `json:"asked,omitzero"`
	Envelope string    `json:"envelope,omitempty"` // the digest of what was to be handed over
	Decided  time.Time `json:"decided,omitzero"`   // the approval or denial
	Approver string    `json:"approver,omitempty"` // who approved or denied it
	Denied   bool      `json:"denied,omitempty"`
	To       string    `json:"to,omitempty"` // the receiver that accepted
	Accepted time.Time `json:"accepted,omitzero"`
	Given    string    `json:"given,omitempty"` // the digest of what the receiver was given, if the envelope was packed for it
	Moved    time.Time `json:"moved,omitzero"`  // ownership
	Owner    string    `json:"owner,omitempty"` // to whom
	Epoch    uint64    `json:"epoch,omitempty"`
	Holds    string    `json:"holds,omitempty"` // the digest of the envelope of the task since then: with the last notes of a confirmation it is another
	Ended    time.Time `json:"ended,omitzero"`  // without another owner
	Outcome  string    `json:"outcome,omitempty"`

	stream ledger.Stream
	number int
	given  map[string]string // by receiver
}

// Receipt is what a receipt proves.
type Receipt struct {
	Log        string     `json:"log"`
	Checkpoint Checkpoint `json:"-"`
	Notes      [][]byte   `json:"-"`    // the checkpoint as its proofs have it: one, unless their signatures differ
	Size       int64      `json:"size"` // of the checkpoint
	Entries    []Proven   `json:"entries"`
	Handoffs   []Handoff  `json:"handoffs"`
	// Withheld are the positions of entries of which the receipt has the leaf alone: the caller that got it may not read all of them.
	Withheld []ledger.Position `json:"withheld,omitempty"`
	// Exports are what its entries say of exports of this workspace, or task, up to this one.
	Exports []Export `json:"exports,omitempty"`

	leaves   []leafAt
	at       ledger.Position          // of the last proof
	last     map[ledger.Stream]int    // the handoff of a task that was requested last
	versions map[ledger.Stream]uint64 // of the last entry of each stream
}

// VerifyReceipt verifies a receipt with the public keys of the log. Errors: ErrProof, ErrCheckpoint, ErrSignature.
func VerifyReceipt(text []byte, keys Keys) (Receipt, error) {
	return ReadReceipt(bytes.NewReader(text), keys)
}

// ReadReceipt is [VerifyReceipt] for a receipt or an export of any length. Errors: also those of the reader.
func ReadReceipt(from io.Reader, keys Keys) (Receipt, error) {
	r := Receipt{Entries: []Proven{}, Handoffs: []Handoff{}, last: map[ledger.Stream]int{}, versions: map[ledger.Stream]uint64{}}
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
		at := ledger.Position(p.Index + 1) //nolint:gosec // never negative
		if r.at >= at {
			return r, fmt.Errorf("%w: its entries are not in the order of the record", ErrProof)
		}
		r.at = at
		if leaf, withheld := p.Withheld(); withheld {
			r.Withheld, r.leaves = append(r.Withheld, at), append(r.leaves, leafAt{at: at, leaf: leaf})
			continue
		}
		if err := r.read(p.Entry, at); err != nil {
			return r, err
		}
	}
	err := r.count()
	return r, err
}

// read adds an entry that is in the tree.
func (r *Receipt) read(stored []byte, at ledger.Position) error {
	e, err := ledger.Decode(stored)
	if err != nil {
		return fmt.Errorf("%w: entry %d: %w", ErrProof, at, err)
	}
	e.Position = at
	if e.Version != 0 && e.Version <= r.versions[e.Stream] {
		return fmt.Errorf("%w: entry %d is number %d of %s, after number %d", ErrProof, at, e.Version, e.Stream, r.versions[e.Stream])
	}
	r.versions[e.Stream] = e.Version
	if what := CheckContent(&e); what != "" {
		return fmt.Errorf("%w: entry %d: %s", ErrProof, at, what)
	}
	if c, ok := countedIn(&e); ok {
		r.Exports = append(r.Exports, Export{Position: at, Counted: c})
	}
	if name, ok := receivedIn(&e); ok {
		for i := range r.Exports {
			r.Exports[i].Moved = r.Exports[i].Moved || r.Exports[i].in() == name
		}
	}
	r.leaves = append(r.leaves, leafAt{at, e.Stream, LeafOf(stored)})
	r.add(e)
	return nil
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
	_, kind, _ := e.Stream.Parts()
	for _, ev := range e.Events {
		p.Events = append(p.Events, ev.Name)
		d, ok := dataOf(ev)
		if !ok || kind != ledger.TaskKind {
			continue
		}
		last := r.last[e.Stream]
		if n := d.of(ev.Name, &last); n > 0 { // 0: a share, or the request is not here
			r.handoff(e.Stream, n).add(ev.Name, d, e)
		}
		r.last[e.Stream] = last
	}
	r.Entries = append(r.Entries, p)
}

func (r *Receipt) handoff(s ledger.Stream, n int) *Handoff {
	for i := range r.Handoffs {
		if h := &r.Handoffs[i]; h.stream == s && h.number == n {
			return h
		}
	}
	_, _, task := s.Parts()
	r.Handoffs = append(r.Handoffs, Handoff{ID: fmt.Sprintf("%s.h%d", task, n), stream: s, number: n, given: map[string]string{}})
	return &r.Handoffs[len(r.Handoffs)-1]
}

func (h *Handoff) add(event string, d handoffData, e ledger.Entry) {
	switch event {
	case "handoff-request":
		h.From, h.AskedBy, h.Recovery = bare(d.From), bare(cmp.Or(d.By, e.Actor.Principal)), d.Recovery
		h.Asked, h.Envelope = e.Time, text(d.Envelope)
	case "handoff-approved", "handoff-denied":
		h.Decided, h.Approver, h.Denied = e.Time, bare(cmp.Or(d.By, e.Actor.Principal)), event == "handoff-denied"
		h.Envelope = cmp.Or(text(d.Envelope), h.Envelope)
	case "envelope-rendered":
		h.given[bare(d.Agent)] = d.Digest
	case "handoff-acknowledgment":
		h.To, h.Accepted = bare(d.Agent), e.Time
	case "handoff-complete":
		h.Moved, h.Owner, h.Epoch, h.Holds = e.Time, bare(text(d.To)), d.Epoch, text(d.Envelope)
	case "handoff-returned":
		h.Ended, h.Outcome = e.Time, d.Outcome
	}
	h.Given = h.given[h.To]
}

// text is a JSON string; "" if the value is none.
func text(v json.RawMessage) (s string) {
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// bare is an agent's name, or the whole principal: a verifier needs the ledger alone, so that package event, which has the same, is not for it.
func bare(principal string) string { return strings.TrimPrefix(principal, "agent/") }
