package app

import (
	"context"
	"encoding/json"
	"time"

	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/ledger"
)

// Record is a handoff's audit document.
type Record struct {
	HandoffID string       `json:"handoff_id"`
	Task      string       `json:"task_id"`
	Timestamp time.Time    `json:"timestamp"` // of the request
	From      string       `json:"from_agent"`
	To        string       `json:"to_agent,omitempty"` // who accepted, or has the newest offer
	Reason    fact.Reason  `json:"reason"`
	Status    fact.Stage   `json:"status"`
	Entries   []AuditEntry `json:"audit_entries"`
}

// AuditEntry is one event on record.
type AuditEntry struct {
	Timestamp time.Time       `json:"timestamp"`
	Event     string          `json:"event"`
	Agent     string          `json:"agent"` // the principal, from its credential; agents by their bare name
	Details   json.RawMessage `json:"details"`
	Position  ledger.Position `json:"position"`
	For       []string        `json:"for,omitempty"`
}

// Trail is everything on record about a task: its entries, and its handoffs as audit documents.
type Trail struct {
	Task     string       `json:"task"`
	Handoffs []Record     `json:"handoffs"`
	Entries  []AuditEntry `json:"entries"` // all, those of handoffs too
}

// Trail gives a task's whole history. It is on record before it is answered.
func (a *App) Trail(ctx context.Context, c Caller, task string) (Trail, error) {
	if _, err := a.taskFor(ctx, c, task); err != nil {
		return Trail{}, a.access.refused(ctx, c, "trail", task, err)
	}
	if err := a.access.read(ctx, c, task, "trail", ""); err != nil {
		return Trail{}, err
	}
	return a.trail(ctx, c.Workspace, task)
}

func (a *App) trail(ctx context.Context, workspace, task string) (Trail, error) {
	tr := Trail{Task: task, Handoffs: []Record{}, Entries: []AuditEntry{}}
	var after ledger.Position
	var t handoff.Task
	for {
		entries, err := a.ledger.Stream(ctx, taskStream(workspace, task), after, streamPage)
		if err != nil {
			return Trail{}, unavailable(err)
		}
		for _, e := range entries {
			after = e.Position
			if t, err = a.follow(&tr, t, e); err != nil {
				return Trail{}, err
			}
		}
		if len(entries) < streamPage {
			return tr, nil
		}
	}
}

// follow adds an entry to the trail. Events between a handoff's request and its end belong to it.
func (a *App) follow(tr *Trail, t handoff.Task, e ledger.Entry) (handoff.Task, error) {
	for _, ev := range e.Events {
		d, err := a.tasks.codec.Decode(ev)
		if err != nil {
			return t, err
		}
		open := t.InFlight() != nil
		t = handoff.Fold(t, d)
		entry := auditEntry(e, ev)
		tr.Entries = append(tr.Entries, entry)
		if req, ok := d.(fact.HandoffRequested); ok {
			tr.Handoffs = append(tr.Handoffs, Record{HandoffID: handoff.HandoffID(t.ID, req.Handoff), Task: t.ID, Timestamp: e.Time,
				From: req.From, Reason: req.Reason})
		} else if !open {
			continue
		}
		r := &tr.Handoffs[len(tr.Handoffs)-1]
		r.Entries = append(r.Entries, entry)
		r.Status = t.Handoff.Stage
		r.To = t.Handoff.Receiver
		if r.To == "" && len(t.Handoff.To) == 1 {
			r.To = t.Handoff.To[0]
		}
	}
	return t, nil
}

func auditEntry(e ledger.Entry, ev ledger.Event) AuditEntry {
	return AuditEntry{Timestamp: e.Time, Event: ev.Name, Agent: actorName(e.Actor.Principal), Details: ev.Data, Position: e.Position, For: e.Actor.For}
}

// actorName is an agent's bare name, and any other principal in full.
func actorName(principal string) string {
	const agent = "agent/"
	if len(principal) > len(agent) && principal[:len(agent)] == agent {
		return principal[len(agent):]
	}
	return principal
}

// Notice is an entry as the event stream tells it: what happened, to which task, by whom; not the content.
type Notice struct {
	Position ledger.Position `json:"position"`
	Time     time.Time       `json:"time"`
	Kind     string          `json:"kind"` // task, agent or token
	ID       string          `json:"id"`   // of the task, agent or token
	Actor    string          `json:"actor"`
	Events   []string        `json:"events"`
}

// Follow calls fn with what happens after a position, in order, until ctx ends or fn fails. Agents are told of the
// tasks that they have a part in and of other agents; those who may read anything, of all but reads.
func (a *App) Follow(ctx context.Context, c Caller, after ledger.Position, fn func(Notice) error) error {
	if err := c.may(identity.ReadOwn, "follow events"); err != nil {
		return err
	}
	all := identity.May(c.Role, identity.ReadAny)
	return a.ledger.Follow(ctx, after, func(entries []ledger.Entry) error {
		for _, e := range entries {
			workspace, kind, id := e.Stream.Parts()
			if workspace != c.Workspace || kind == kindAccess || (kind == kindToken && !all) {
				continue
			}
			if kind == kindTask && !all {
				f, err := a.tasks.load(ctx, e.Stream, false)
				if err != nil {
					return err
				}
				if !a.sees(c, f.state) {
					continue
				}
			}
			n := Notice{Position: e.Position, Time: e.Time, Kind: kind, ID: id, Actor: e.Actor.Principal}
			for _, ev := range e.Events {
				n.Events = append(n.Events, ev.Name)
			}
			if err := fn(n); err != nil {
				return err
			}
		}
		return nil
	})
}

// Last is the position of the newest entry.
func (a *App) Last(ctx context.Context) (ledger.Position, error) {
	p, err := a.ledger.Last(ctx)
	if err != nil {
		return 0, unavailable(err)
	}
	return p, nil
}
