//go:build slow && !race

package mcpapi_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
)

// Models in strict mode fill every field. What they fill with null or a neutral value of its type counts as omitted, in every tool.
func TestToolsTakeNullAndEmptyForWhatIsOmitted(t *testing.T) {
	calls := map[string]func(own, offered, item string) m{
		"join":         func(_, _, _ string) m { return m{} },
		"inbox":        func(_, _, _ string) m { return m{} },
		"send":         func(_, _, _ string) m { return m{"intent": "Write another"} },
		"accept":       func(_, offered, _ string) m { return m{"handoff": offered} },
		"reject":       func(_, offered, _ string) m { return m{"handoff": offered, "reason": "overloaded"} },
		"progress":     func(own, _, _ string) m { return m{"task": own, "note": "half of it"} },
		"complete":     func(own, _, _ string) m { return m{"task": own, "text": "done"} },
		"status":       func(own, _, _ string) m { return m{"id": own} },
		"ask":          func(own, _, _ string) m { return m{"task": own, "question": "Which one?", "wait": 0.0} },
		"escalate":     func(own, _, _ string) m { return m{"task": own, "detail": "too hard"} },
		"cancel":       func(own, _, _ string) m { return m{"id": own, "why": "not needed"} },
		"remember":     func(_, _, _ string) m { return m{"text": "the grammar is in docs"} },
		"recall":       func(_, _, _ string) m { return m{"query": "grammar"} },
		"route":        func(own, _, _ string) m { return m{"task": own} },
		"conversation": func(_, _, _ string) m { return m{"id": "talk"} },
		"decide":       func(own, _, _ string) m { return m{"id": own + ".h1", "verdict": "approve"} },
		"constrain":    func(own, _, _ string) m { return m{"task": own, "constraint": "never push"} },
		"artifact":     func(_, _, _ string) m { return m{"text": "a log"} },
		"channel":      func(_, _, _ string) m { return m{"action": "create", "name": "builds"} },
		"dead":         func(_, _, _ string) m { return m{"action": "list"} },
		"agent":        func(_, _, _ string) m { return m{"agent": "coder"} },
		"annotate":     func(own, _, _ string) m { return m{"task": own, "entry": 1.0, "note": "wrong title"} },
		"alerts":       func(_, _, _ string) m { return m{"action": "list"} },
		"do":           func(_, _, _ string) m { return m{"text": "show active handoffs"} },
	}
	for name, args := range maps.All(more) {
		calls[name] = args
	}
	for name, args := range calls {
		t.Run(name, func(t *testing.T) {
			tool, _, _ := strings.Cut(name, " ")
			omitted, events, refused := filled(t, tool, args, nil, false)
			if strings.Contains(omitted, "unknown tool") {
				t.Fatal(omitted)
			}
			for name, with := range map[string]func(m) any{"null": func(m) any { return nil }, `""`: func(m) any { return "" }, "[] or {}": otherEmpty, "neutral values": neutral} {
				text, recorded, no := filled(t, tool, args, with, true)
				if no != refused {
					t.Errorf("with %s for what is omitted: refused %t: %s\nomitted: refused %t: %s", name, no, text, refused, omitted)
				}
				for i, event := range recorded {
					if i >= len(events) || event != events[i] {
						t.Errorf("with %s for what is omitted this is recorded: %somitted: %s", name, event, strings.Join(events[min(i, len(events)):], ""))
						break
					}
				}
				if len(recorded) < len(events) {
					t.Errorf("with %s for what is omitted this is not recorded: %s", name, strings.Join(events[len(recorded):], ""))
				}
			}
		})
	}
	every, err := toolset.New("", "all")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range every.Tools() {
		if calls[name] == nil {
			t.Errorf("%s has no call here", name)
		}
	}
}

// otherEmpty is an empty list or object where the schema has neither, or the other of the two.
func otherEmpty(schema m) any {
	if t := schema["type"]; t == "string" || t == "object" {
		return []any{}
	}
	return m{}
}

// more are further calls, after the name of their tool.
var more = map[string]func(own, offered, item string) m{
	"send a task": func(own, _, _ string) m { return m{"task": own, "to": []any{"lead"}} },
	"send new":    func(_, _, _ string) m { return m{"intent": "Write another", "to": []any{"lead"}} },
	"send share":  func(own, _, _ string) m { return m{"task": own, "to": []any{"lead"}, "share_only": true} },
	"send delegation": func(own, _, _ string) m {
		return m{"task": own, "to": []any{"lead"}, "kind": "delegation", "ask": "test it"}
	},
	"complete failed":  func(own, _, _ string) m { return m{"task": own, "text": "no", "failed": true} },
	"status preview":   func(_, offered, _ string) m { return m{"id": offered, "preview": true} },
	"status history":   func(own, _, _ string) m { return m{"id": own, "history": true} },
	"status all":       func(_, _, _ string) m { return m{} },
	"remember revise":  func(_, _, item string) m { return m{"revise": item, "text": "the grammar is in src"} },
	"remember forget":  func(_, _, item string) m { return m{"forget": item} },
	"remember unpin":   func(_, _, item string) m { return m{"unpin": item} },
	"remember tag":     func(_, _, item string) m { return m{"tag": item, "tags": []any{"docs"}} },
	"recall one":       func(_, _, item string) m { return m{"id": item} },
	"escalate stuck":   func(_, _, _ string) m { return m{"stuck": "lead"} },
	"conversation say": func(_, _, _ string) m { return m{"id": "talk", "say": "hello"} },
	"constrain budget": func(own, _, _ string) m { return m{"task": own, "constraint": "budget:few calls", "max": "0"} },
	"agent register": func(_, _, _ string) m {
		return m{"agent": "coder", "action": "register", "description": "writes parsers"}
	},
	"progress heartbeat": func(own, _, _ string) m { return m{"task": own} },
	"decide deny":        func(_, offered, _ string) m { return m{"id": offered, "verdict": "deny"} },
}

// filled calls a tool as an agent that owns a task and is offered another, with a value for each argument that the call omits. It returns all
// events that the record has then, without what differs from server to server. Of complete the looks at a task are left out: it looks to tell what
// an empty result means.
func filled(t *testing.T, tool string, args func(own, offered, item string) m, with func(schema m) any, fill bool) (text string, events []string, refused bool) {
	t.Helper()
	h := open(t)
	lead := h.agent(statelessVersion, "lead")
	coder, err := h.at(statelessVersion, "coder", "tools=all")
	if err != nil {
		t.Fatal(err)
	}
	_, own := coder.call("send", m{"intent": "Write the parser"})
	_, offer := lead.call("send", m{"intent": "Review the parser", "to": "coder"})
	_, stored := coder.call("remember", m{"text": "the grammar is in lib"})
	call := args(own["task"].(string), offer["handoff"].(string), stored["id"].(string))
	if fill {
		call = coder.fill(tool, call, with)
	}
	text, _, refused = coder.try(tool, call)
	var record strings.Builder
	if err := h.admin.Export(t.Context(), client.ExportOptions{}, &record); err != nil {
		t.Fatal(err)
	}
	events = strings.SplitAfter(ofOneServer.ReplaceAllString(record.String(), "…"), "\n")
	events = slices.DeleteFunc(events, func(e string) bool {
		return tool == "complete" && strings.Contains(e, `"event":"content-read"`) && strings.Contains(e, `"what":"task"`)
	})
	if len(events) < 2 {
		t.Fatalf("the record has no events: %s", record.String())
	}
	return text, events, refused
}

// ofOneServer matches what differs from server to server in an export: positions, times, ids, digests and random bytes, and the size of a
// prompt, since it has ids.
var ofOneServer = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|\b(task|mem)_[0-9a-z]+|"[a-z2-7]{16}"|\b[0-9a-f]{32,64}\b|"(tokens|position)":\d+`)
