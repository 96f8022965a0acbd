package view

import (
	"encoding/json"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Record is the audit document of a handoff.
type Record struct {
	HandoffID string       `json:"handoff_id"`
	Task      string       `json:"task_id"`
	Timestamp time.Time    `json:"timestamp"` // of the request
	From      string       `json:"from_agent"`
	To        string       `json:"to_agent,omitempty"` // the agent that accepted, or has the newest offer
	Reason    event.Reason `json:"reason"`
	Status    event.Stage  `json:"status"`
	Entries   []AuditEntry `json:"audit_entries"`

	Decision *event.Decision `json:"-"` // the routing decision; the details of the request contain it too
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

	state task.Task
}

// NewTrail returns the empty trail of a task.
func NewTrail(task string) *Trail {
	return &Trail{Task: task, Handoffs: []Record{}, Entries: []AuditEntry{}}
}

// Add adds the next entry. Events between a handoff's request and its end belong to the handoff.
// An entry whose events cannot be decoded adds nothing.
func (tr *Trail) Add(e ledger.Entry, codec *ledger.Codec[event.Event]) error {
	decoded, err := codec.DecodeAll(e.Events)
	if err != nil {
		return err
	}
	for i, ev := range e.Events {
		d := decoded[i]
		open := tr.state.InFlight() != nil
		tr.state = task.Fold(tr.state, d)
		entry := auditEntry(e, ev)
		tr.Entries = append(tr.Entries, entry)
		if req, ok := d.(event.HandoffRequested); ok {
			tr.Handoffs = append(tr.Handoffs, Record{
				HandoffID: event.HandoffID(tr.Task, req.Handoff), Task: tr.Task, Timestamp: e.Time,
				From: req.From, Reason: req.Reason, Decision: req.Decision,
			})
		} else if !open {
			continue
		}
		tr.Handoffs[len(tr.Handoffs)-1].add(entry, tr.state.Handoff)
	}
	return nil
}

// Skip lists an entry that cannot be read in its place, there and in the handoff that was in progress. What the entries after it say is added as far as it
// does not depend on what is lost.
func (tr *Trail) Skip(row Row) {
	entry := AuditEntry{Event: row.Event, Details: row.Details, Position: row.Position}
	tr.Entries = append(tr.Entries, entry)
	if tr.state.InFlight() != nil {
		r := &tr.Handoffs[len(tr.Handoffs)-1]
		r.Entries = append(r.Entries, entry)
	}
}

func (r *Record) add(entry AuditEntry, h *task.Handoff) {
	r.Entries = append(r.Entries, entry)
	r.Status, r.To = h.Stage, h.Receiver
	if r.To == "" && len(h.To) == 1 {
		r.To = h.To[0]
	}
}

func auditEntry(e ledger.Entry, ev ledger.Event) AuditEntry {
	return AuditEntry{Timestamp: e.Time, Event: ev.Name, Agent: actorName(e.Actor.Principal), Details: ev.Data, Position: e.Position, For: e.Actor.For}
}

// actorName returns the bare name of an agent, and any other principal in full.
func actorName(principal string) string {
	const agent = "agent/"
	if len(principal) > len(agent) && principal[:len(agent)] == agent {
		return principal[len(agent):]
	}
	return principal
}
