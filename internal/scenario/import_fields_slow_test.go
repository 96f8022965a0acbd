//go:build slow || outside

package scenario

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/content/foreign"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// foreignDocuments are documents with a marker in each field that a format has.
var foreignDocuments = map[foreign.Format]map[string]any{
	foreign.HandoffDocument: {
		"task_context": map[string]any{"intent": "marker-intent", "of_its_own": "marker-own"}, "to_agent": "bob", "from_agent": "marker-from",
		"handoff_reason": "marker-reason", "priority": "high", "timeout_seconds": 77, "audit_trail": []string{"marker-trail"}, "task_id": "marker-task",
		"handoff_id": "marker-handoff", "created_at": "2001-01-01T00:00:01Z", "timestamp": "2001-01-01T00:00:02Z", "permissions": []string{"marker-permission"},
		"dependencies": []string{"marker-dependency"}, "unheard": "marker-unheard",
	},
	foreign.HandoffContext: {
		"original_task": "marker-intent", "target_agent": "bob", "source_agent": "marker-from", "reason": "marker-reason", "priority": "high",
		"timeout_seconds": 77, "expires_at": "2001-01-01T00:00:03Z", "current_state": "marker-state", "conversation_summary": "marker-summary",
		"key_facts": []string{"marker-fact"}, "decisions_made": []string{"marker-decision"}, "open_questions": []string{"marker-question"},
		"collected_data": map[string]any{"x": "marker-data"}, "handoff_id": "marker-handoff", "task_id": "marker-task",
		"created_at": "2001-01-01T00:00:01Z", "unheard": "marker-unheard",
	},
	foreign.MemoryEnvelope: {
		"envelope_version": "2.3", "task_summary": "marker-intent", "target_agent": "bob", "priority": "high",
		"execution_history": []string{"marker-trail"}, "created_at": "2001-01-01T00:00:01Z", "include_pins": false, "expires_at": "2001-01-01T00:00:03Z",
		"memory_refs": []string{"marker-memory"}, "constraints": map[string]any{"security": "marker-constraint", "max_tokens": 54321}, "unheard": "marker-unheard",
	},
}

// Each field of a document is kept, whether the task is started, handed to the agent that the document names, to another, or to nobody:
// and what does not count here has a note that says so.
func TestAnImportKeepsOrNamesEachField(t *testing.T) {
	for _, format := range slices.Sorted(maps.Keys(foreignDocuments)) {
		for _, way := range []struct {
			name, receiver string
			in             tasks.ImportInput
			sent           string // to whom
			note           string // on the receiver
		}{
			{"to the receiver that it names", "bob", tasks.ImportInput{}, "bob", ""},
			{"to nobody, since there is no such agent", "nobody-here", tasks.ImportInput{}, "", "there is no agent of that name here"},
			{"started", "bob", tasks.ImportInput{Start: true}, "", "the caller works on the task itself"},
			{"started, with an unknown receiver", "nobody-here", tasks.ImportInput{Start: true}, "", "the caller works on the task itself"},
			{"to another", "bob", tasks.ImportInput{To: []string{"cyd"}}, "cyd", "the call names another receiver"},
			{"to another, with an unknown receiver", "nobody-here", tasks.ImportInput{To: []string{"cyd"}}, "cyd", "the call names another receiver"},
		} {
			t.Run(string(format)+" "+way.name, func(t *testing.T) {
				story(t, func(h *harness) {
					h.join("ann", "bob", "cyd")
					reason, receiver, tokens := format.HandoffFields()
					doc := maps.Clone(foreignDocuments[format])
					doc[receiver] = way.receiver
					raw, err := json.Marshal(doc)
					if err != nil {
						h.Fatal(err)
					}
					way.in.Document = raw
					got := h.importing(h.agent("ann"), way.in)
					if !slices.Equal(got.To, strings.Fields(way.sent)) {
						h.Errorf("handed to %v", got.To)
					}
					checkKept(h, got.Task, raw)
					notes := map[string]string{}
					for _, n := range got.Notes {
						if notes[n.Field] != "" {
							h.Errorf("two notes on %s: %q and %q", n.Field, notes[n.Field], n.Text)
						}
						notes[n.Field] = n.Text
					}
					if said := notes[receiver]; (way.note == "") != (said == "") || !strings.Contains(said, way.note) {
						h.Errorf("the note on %s is %q, want %q", receiver, said, way.note)
					}
					checkNote(h, notes, reason, map[bool]string{true: "used as the detail of the handoff", false: "nobody receives the task yet"}[way.sent != ""])
					if way.sent == "" {
						checkNote(h, notes, tokens, "nobody receives the task yet")
					}
					if doc["expires_at"] != nil {
						checkNote(h, notes, "expires_at", "kept as claimed")
					}
				})
			})
		}
	}
}

func checkNote(h *harness, notes map[string]string, field, want string) {
	h.Helper()
	if field != "" && !strings.Contains(notes[field], want) {
		h.Errorf("the note on %s is %q, want %q", field, notes[field], want)
	}
}

// checkKept fails if a value of the document is nowhere in the record of a task.
func checkKept(h *harness, task string, doc []byte) {
	h.Helper()
	trail, err := known(h, h.operator(), h.app.History.Trail, task)
	if err != nil {
		h.Fatal(err)
	}
	b, err := json.Marshal(trail)
	if err != nil {
		h.Fatal(err)
	}
	record := string(b)
	record += string(h.content(h.operator(), envelopes.ContentInput{ID: task, Source: true}).Envelope)
	var values func(v any)
	values = func(v any) {
		switch v := v.(type) {
		case string:
			if !strings.Contains(record, v) {
				if at, err := time.Parse(time.RFC3339, v); err != nil || !strings.Contains(record, at.Format(time.RFC3339)) {
					h.Errorf("%q is lost", v)
				}
			}
		case float64:
			if n, _ := json.Marshal(v); !strings.Contains(record, string(n)) && !strings.Contains(record, (time.Duration(v)*time.Second).String()) {
				h.Errorf("%v is lost", v)
			}
		case []any:
			for _, x := range v {
				values(x)
			}
		case map[string]any:
			for _, x := range v {
				values(x)
			}
		}
	}
	var all any
	if err := json.Unmarshal(doc, &all); err != nil {
		h.Fatal(err)
	}
	values(all)
}
