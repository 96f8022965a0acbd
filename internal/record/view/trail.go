package view

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Record is the audit document of a handoff. A delegation or a fan-out has one on the parent for each child, under the id of the first handoff of
// the child: its status is what the parent has heard of it.
type Record struct {
	HandoffID string       `json:"handoff_id"`
	Task      string       `json:"task_id"`
	Timestamp time.Time    `json:"timestamp"`          // of the request
	From      string       `json:"from_agent"`         // an agent by its bare name, anybody else as "operator/ann"
	To        string       `json:"to_agent,omitempty"` // as [Parts.To], several separated by ", "; omitted if nobody can be asked
	Reason    event.Reason `json:"reason"`
	Status    event.Stage  `json:"status"`
	Entries   []AuditEntry `json:"audit_entries"`

	// Parts is what else the task says of the handoff; nil if the record is of a child.
	Parts *Parts `json:"-"`
}

// Parts are a handoff as its task had it when the handoff ended, or has it now.
type Parts struct {
	Handoff task.Handoff
	// To is the agent that accepted; or those that have the offer; or those that had the last one; or, before the first, those that it will go to.
	// People at a desk are written as "human:DESK".
	To           []string
	Decision     *event.Decision // the routing decision; the details of the request contain it too
	Priority     event.Priority
	Permissions  []string // of the receiver; nil: not restricted
	Dependencies []string
	Context      json.RawMessage // its envelope; nil if the reader may not read it

	offered []string // all that the newest offer was made to
}

// AuditEntry is one recorded event.
type AuditEntry struct {
	Timestamp time.Time       `json:"timestamp"`
	Event     string          `json:"event"`
	Agent     string          `json:"agent"` // the principal, from its credential; agents by their bare name
	Details   json.RawMessage `json:"details"`
	Position  ledger.Position `json:"position"`
	For       []string        `json:"for,omitempty"`
}

// Trail is the complete record of a task: its entries, and its handoffs as audit documents. Build it by adding the entries
// of the task's stream in order.
type Trail struct {
	Task     string       `json:"task"`
	Handoffs []Record     `json:"handoffs"`
	Entries  []AuditEntry `json:"entries"` // all, including those of handoffs

	state  task.Task
	only   int                        // the one handoff that is kept; 0: all, and the entries of the task
	sealed map[string]json.RawMessage // the envelopes that a handoff may be of, by their digests
	bytes  int                        // of the details in the records of handoffs
}

// NewTrail returns the empty trail of a task.
func NewTrail(task string) *Trail {
	return &Trail{Task: task, Handoffs: []Record{}, Entries: []AuditEntry{}, sealed: map[string]json.RawMessage{}}
}

// NewTrailOf returns the empty trail of a task that keeps one handoff alone.
func NewTrailOf(task string, handoff int) *Trail {
	tr := NewTrail(task)
	tr.only = handoff
	return tr
}

// Bytes is about how many bytes the records of handoffs hold.
func (tr *Trail) Bytes() int { return tr.bytes }

// Add adds the next entry. Events between a handoff's request and its end belong to the handoff.
// An entry whose events cannot be decoded adds nothing.
func (tr *Trail) Add(e ledger.Entry, codec *ledger.Codec[event.Event]) error {
	decoded, err := codec.DecodeAll(e.Events)
	if err != nil {
		return err
	}
	for i, ev := range e.Events {
		d := decoded[i]
		open, awaited := tr.state.InFlight() != nil, tr.state.Awaits
		tr.state = task.Fold(tr.state, d)
		entry := auditEntry(e, ev)
		if tr.only == 0 {
			tr.Entries = append(tr.Entries, entry)
			tr.addToChildren(d, awaited, entry)
		}
		if of, ok := d.(event.Sealed); ok {
			tr.keep(of)
		}
		if req, ok := d.(event.HandoffRequested); ok {
			tr.request(req, e.Time)
		} else if !open {
			continue
		}
		if tr.only == 0 || tr.state.Handoff.N == tr.only {
			r := tr.newest()
			r.Parts.offer(d)
			tr.add(r, entry)
		}
	}
	return nil
}

// request adds the record of a handoff, unless another one alone is kept.
func (tr *Trail) request(req event.HandoffRequested, at time.Time) {
	if tr.only != 0 && req.Handoff != tr.only {
		return
	}
	tr.Handoffs = append(tr.Handoffs, Record{
		HandoffID: event.HandoffID(tr.Task, req.Handoff), Task: tr.Task, Timestamp: at, From: event.Bare(req.From), Reason: req.Reason, Parts: &Parts{Decision: req.Decision},
	})
}

// newest is the record of the newest handoff of the task itself.
func (tr *Trail) newest() *Record {
	for i := len(tr.Handoffs) - 1; ; i-- {
		if tr.Handoffs[i].Parts != nil {
			return &tr.Handoffs[i]
		}
	}
}

// keep notes an envelope that a handoff may be of, and drops those that none can be of any more.
func (tr *Trail) keep(of event.Sealed) {
	for digest := range tr.sealed {
		if h := tr.state.InFlight(); digest != tr.state.Envelope && (h == nil || h.Envelope != digest) {
			delete(tr.sealed, digest)
		}
	}
	tr.sealed[of.Digest] = of.Bytes
}

// addToChildren adds to the records of children what the parent does and hears, which awaited a group of them.
func (tr *Trail) addToChildren(d event.Event, awaited int, entry AuditEntry) {
	switch d := d.(type) {
	case event.Spawned:
		for _, k := range d.Children {
			tr.Handoffs = append(tr.Handoffs, Record{
				HandoffID: event.HandoffID(k.Task, 1), Task: k.Task, Timestamp: entry.Timestamp, From: event.Bare(d.From), To: k.To, Reason: d.Reason,
				Status: event.Requested, Entries: []AuditEntry{entry},
			})
		}
	case event.ChildEnded:
		for i := range tr.Handoffs {
			if r := &tr.Handoffs[i]; r.Parts == nil && r.Task == d.Child {
				r.Entries, r.Status = append(r.Entries, entry), heard(d.State)
			}
		}
	case event.Joined:
		for i := range tr.Handoffs {
			if r := &tr.Handoffs[i]; r.Parts == nil && tr.group(r.Task) == awaited {
				r.Entries = append(r.Entries, entry)
			}
		}
	}
}

// group is the number of the group of a child.
func (tr *Trail) group(child string) int {
	if i := tr.state.FindChild(child); i >= 0 {
		return tr.state.Children[i].Group
	}
	return 0
}

// heard is the stage of the handoff to a child whose end the parent has heard of.
func heard(s event.State) event.Stage {
	switch s {
	case event.Completed:
		return event.Transferred
	case event.Cancelled:
		return event.Withdrawn
	case event.Parked:
		return event.DeadLettered
	case event.Failed, event.Pending, event.HandingOff, event.Executing, event.Waiting: // of the last four no parent hears
	}
	return event.Undeliverable
}

// Skip lists an entry that cannot be read in its place, there and in the handoff that was in progress. What the entries after it say is added as far as it
// does not depend on what is lost.
func (tr *Trail) Skip(row Row) {
	entry := AuditEntry{Event: row.Event, Details: row.Details, Position: row.Position}
	tr.Entries = append(tr.Entries, entry)
	if tr.state.InFlight() != nil {
		r := tr.newest()
		r.Entries = append(r.Entries, entry)
	}
}

func (tr *Trail) add(r *Record, entry AuditEntry) {
	h := tr.state.Handoff
	r.Entries = append(r.Entries, entry)
	tr.bytes += len(entry.Details)
	r.Status = h.Stage
	p := r.Parts
	p.Handoff, p.Priority, p.Permissions, p.Dependencies = *h, tr.state.Priority, h.Permits, nil
	p.To = p.receivers()
	r.To = strings.Join(p.To, ", ")
	if p.Permissions == nil {
		p.Permissions = tr.state.Permissions
	}
	for _, d := range tr.state.Dependencies {
		p.Dependencies = append(p.Dependencies, d.Task)
	}
	if of := tr.sealed[h.Envelope]; of != nil {
		p.Context = of
	}
}

// offer notes the agents that an offer is made to.
func (p *Parts) offer(d event.Event) {
	switch d := d.(type) {
	case event.OfferMade:
		p.offered = d.To
	case event.ClaimJoined:
		p.offered = append(slices.Clip(p.offered), d.Agent)
	}
}

// receivers is what To has for a handoff.
func (p *Parts) receivers() []string {
	h := &p.Handoff
	switch {
	case h.Receiver != "":
		return []string{h.Receiver}
	case len(h.To) > 0:
		return h.To
	case len(p.offered) > 0 && h.Stage != event.AtDesk:
		return p.offered
	}
	return p.next()
}

// next names the candidates that the handoff goes to next: the people at a desk once it has come to them, and of a claim all.
func (p *Parts) next() (names []string) {
	h := &p.Handoff
	for i, c := range h.Candidates {
		switch {
		case h.Stage == event.AtDesk && c.IsDesk():
			return []string{"human:" + c.Desk}
		case h.Stage == event.AtDesk, i != h.Next && (!h.Claim || c.Tier != event.TierTarget):
		case c.IsDesk():
			names = append(names, "human:"+c.Desk)
		default:
			names = append(names, c.Agent)
		}
	}
	return names
}

func auditEntry(e ledger.Entry, ev ledger.Event) AuditEntry {
	return AuditEntry{Timestamp: e.Time, Event: ev.Name, Agent: event.Bare(e.Actor.Principal), Details: identity.BareAgents(ev.Data), Position: e.Position, For: bare(e.Actor.For)}
}

// bare lists principals by the names that answers show.
func bare(principals []string) []string {
	list := slices.Clone(principals)
	for i := range list {
		list[i] = event.Bare(list[i])
	}
	return list
}
