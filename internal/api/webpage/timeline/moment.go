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
var named = []string{"from", "to", "agent", "approver", "kind", "reason", "tier", "owner", "desk", "then", "outcome", "cause", "id", "state"}

// labels are those of them whose values are of closed sets.
var labels = []string{"kind", "reason", "tier", "outcome", "cause", "state"}

// Moments is the entries of a trail as lines.
func Moments(entries []client.AuditEntry) []Moment {
	all, tickets := make([]Moment, 0, len(entries)), tickets{}
	for i, e := range entries {
		m := Moment{
			Anchor: fmt.Sprintf("p%d-%d", e.Position, i), At: e.Timestamp, Event: label(e.Event), Actor: e.Agent,
			Tone: kinds[e.Event].tone, Position: e.Position, Vain: kinds[e.Event].vain, After: e.Timestamp.Sub(entries[0].Timestamp),
		}
		var fields map[string]any
		if json.Unmarshal(e.Details, &fields) == nil {
			tickets.tell(e.Event, fields)
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
