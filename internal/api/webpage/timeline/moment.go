package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"

	"github.com/trapezehq/trapeze/internal/api/webpage/human"
)

// Moment is an entry of the trail.
type Moment struct {
	Anchor   string
	Path     string // of the envelope or the ticket that it is about; empty: of none
	At       time.Time
	After    time.Duration // since the first entry
	Event    string
	Actor    string
	Text     string // what it says, in a line
	Details  string // all of it, as JSON
	Tone     string // good, bad, ask or ""
	Position uint64
	Vain     bool // an offer came to nothing by it, or was not made: it is why the task went to another receiver, or to nobody
}

// said are the fields of an entry that say in words what happened, in the order in which they are read.
var said = []string{"detail", "why", "note", "question", "answer", "error"}

// named are the fields that name who or what an entry is about.
var named = []string{"from", "to", "agent", "approver", "kind", "reason", "missing", "tier", "owner", "desk", "then", "outcome", "cause", "id", "state"}

// labels are those of them whose values are of closed sets.
var labels = []string{"kind", "reason", "tier", "outcome", "cause", "state"}

// Moments is the entries of the trail of a task as lines.
func Moments(task string, entries []client.AuditEntry) []Moment {
	all, tickets, parts := make([]Moment, 0, len(entries)), tickets{}, parts{}
	for i, e := range entries {
		m := Moment{
			Anchor: fmt.Sprintf("p%d-%d", e.Position, i), At: e.Timestamp, Event: label(e.Event), Actor: e.Agent,
			Tone: kinds[e.Event].tone, Position: e.Position, Vain: kinds[e.Event].vain, After: e.Timestamp.Sub(entries[0].Timestamp),
		}
		var fields map[string]any
		if json.Unmarshal(e.Details, &fields) == nil {
			m.Path = leadsTo(task, e.Event, fields, tickets.tell(e.Event, fields))
			parts.tell(e.Event, fields)
			rename(e.Event, fields)
			if fields["agent"] == e.Agent { // who did it is named before
				delete(fields, "agent")
			}
			if m.Text = sentence(fields); e.Event == "task-parked" { // the server says why
				m.Text = human.Times(m.Text)
			}
		}
		var b bytes.Buffer
		if json.Indent(&b, e.Details, "", "  ") == nil {
			m.Details = b.String()
		}
		all = append(all, m)
	}
	return all
}

// Vain is the last moment since a time by which an offer came to nothing; nil: there is none.
func Vain(all []Moment, since time.Time) *Moment {
	for i := range slices.Backward(all) {
		if m := &all[i]; m.Vain && !m.At.Before(since) {
			return m
		}
	}
	return nil
}

// leadsTo is the page of the handoff or the ticket that an entry is about, where there is more to read.
func leadsTo(task, event string, fields map[string]any, ticket int) string {
	switch n, _ := fields["handoff"].(float64); {
	case ticket > 0:
		return fmt.Sprintf("/tickets/%s.k%d", task, ticket)
	case n > 0 && (event == "handoff-request" || event == "envelope-rendered"):
		return fmt.Sprintf("/tasks/%s/hops/%d", task, int(n))
	}
	return ""
}

// rename gives fields that are of one event alone the names of those that others have.
func rename(event string, fields map[string]any) {
	switch event {
	case "handoff-rejected":
		fields["reason"] = fields["why"]
		delete(fields, "why")
	case "constraint-set":
		if of, ok := fields["constraint"].(map[string]any); ok {
			fields["id"], fields["detail"] = of["id"], of["text"]
		}
	case "dependency-ended":
		fields["id"] = fields["task"]
	}
}

// parts are who has each part of the task, by the ids of its children. The end of one names its id alone.
type parts map[string]any

func (ps parts) tell(event string, fields map[string]any) {
	switch event {
	case "children-spawned":
		children, _ := fields["children"].([]any)
		var to []any
		for _, c := range children {
			if c, ok := c.(map[string]any); ok {
				id, _ := c["task"].(string)
				ps[id] = c["to"]
				to = append(to, c["to"])
			}
		}
		fields["to"] = to
	case "child-ended":
		id, _ := fields["child"].(string)
		fields["agent"] = ps[id]
	}
}

// label is an event as words. A task that is parked goes to the dead letters.
func label(event string) string {
	if event == "task-parked" {
		return "moved to the dead letters"
	}
	return strings.ReplaceAll(event, "-", " ")
}

// sentence is the fields of an entry that people look for.
func sentence(fields map[string]any) string {
	var parts []string
	for _, name := range named {
		switch v := fields[name].(type) {
		case string:
			if slices.Contains(labels, name) {
				v = human.Label(v)
			}
			if v != "" {
				parts = append(parts, name+" "+v)
			}
		case []any:
			words := make([]string, len(v))
			for i := range v {
				words[i] = fmt.Sprint(v[i])
			}
			if len(words) > 0 {
				parts = append(parts, name+" "+strings.Join(words, ", "))
			}
		}
	}
	for _, name := range said {
		if v, ok := fields[name].(string); ok && v != "" {
			parts = append(parts, "“"+human.Short(300, v)+"”")
		}
	}
	return strings.Join(parts, " · ")
}
