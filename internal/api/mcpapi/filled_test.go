package mcpapi_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
)

// Models in strict mode fill every field. What they fill with null, "", [] or {} counts as omitted, in every tool.
func TestToolsTakeNullAndEmptyForWhatIsOmitted(t *testing.T) {
	calls := map[string]func(own, offered string) m{
		"join":         func(_, _ string) m { return m{} },
		"inbox":        func(_, _ string) m { return m{} },
		"send":         func(_, _ string) m { return m{"intent": "Write another"} },
		"accept":       func(_, offered string) m { return m{"handoff": offered} },
		"reject":       func(_, offered string) m { return m{"handoff": offered, "why": "overloaded"} },
		"progress":     func(own, _ string) m { return m{"task": own, "note": "half of it"} },
		"complete":     func(own, _ string) m { return m{"task": own, "text": "done"} },
		"status":       func(own, _ string) m { return m{"id": own} },
		"ask":          func(own, _ string) m { return m{"task": own, "question": "Which one?", "wait": 0.0} },
		"escalate":     func(own, _ string) m { return m{"task": own, "detail": "too hard"} },
		"cancel":       func(own, _ string) m { return m{"id": own, "why": "not needed"} },
		"remember":     func(_, _ string) m { return m{"text": "the grammar is in docs"} },
		"recall":       func(_, _ string) m { return m{"query": "grammar"} },
		"route":        func(own, _ string) m { return m{"task": own} },
		"conversation": func(_, _ string) m { return m{"id": "talk"} },
		"decide":       func(own, _ string) m { return m{"id": own + ".h1", "verdict": "approve"} },
		"constrain":    func(own, _ string) m { return m{"task": own, "constraint": "never push"} },
		"artifact":     func(_, _ string) m { return m{"text": "a log"} },
		"channel":      func(_, _ string) m { return m{"action": "create", "name": "builds"} },
		"dead":         func(_, _ string) m { return m{"action": "list"} },
		"agent":        func(_, _ string) m { return m{"agent": "coder"} },
		"annotate":     func(own, _ string) m { return m{"task": own, "entry": 1.0, "note": "wrong title"} },
		"alerts":       func(_, _ string) m { return m{"action": "list"} },
		"do":           func(_, _ string) m { return m{"text": "show active handoffs"} },
	}
	for tool, args := range calls {
		t.Run(tool, func(t *testing.T) {
			omitted, events, refused := filled(t, tool, args, nil, false)
			if strings.Contains(omitted, "unknown tool") {
				t.Fatal(omitted)
			}
			for name, with := range map[string]any{"null": nil, `""`: "", "empty values of its type": byType} {
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

// What models write for something else counts as what they mean, if it can mean nothing else.
func TestToolsTakeWhatIsUnambiguous(t *testing.T) {
	h := open(t)
	coder, reviewer, boss := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer"), h.agent(statelessVersion, "boss")
	_, own := coder.call("send", m{"intent": "Write the parser"})
	_, offer := coder.call("send", m{"intent": "Review the parser", "to": "agent/reviewer", "priority": "HIGH", "schema": nil, "fan_out": "false"})
	_, other := coder.call("send", m{"intent": "Test the parser", "to": "reviewer", "schema": `{"type": "object"}`})
	task, handoff := own["task"].(string), offer["handoff"].(string)
	for _, c := range []struct {
		by   *agent
		tool string
		args m
		says string
	}{
		{reviewer, "inbox", m{"wait": "1s", "limit": "5"}, "high"},
		{reviewer, "inbox", m{"wait": "0", "limit": 5.0}, "high"},
		{reviewer, "reject", m{"handoff": other["task"], "why": "Missing context", "missing": "facts"}, "You rejected it"},
		{reviewer, "accept", m{"handoff": offer["task"], "takeover": "", "detail": nil}, "You take over task"},
		{coder, "accept", m{"takeover": handoff, "detail": "mine after all"}, "The owner was asked"},
		{reviewer, "decide", m{"id": offer["task"], "verdict": "deny"}, "Denied"},
		{reviewer, "progress", m{"task": handoff, "note": "half of it", "tokens": "45"}, "Recorded"},
		{reviewer, "conversation", m{"id": "talk", "say": "hello", "task": handoff, "limit": 45.0}, "Turn 1"},
		{reviewer, "remember", m{"text": "the grammar is in docs", "task": handoff, "importance": nil}, "Stored"},
		{reviewer, "recall", m{"query": "grammar", "agent": "agent/reviewer", "task": handoff, "limit": "3"}, "the grammar is in docs"},
		{reviewer, "route", m{"task": handoff, "files": ""}, "policy"},
		{reviewer, "ask", m{"task": handoff, "question": "Which one?", "to": "agent/boss", "wait": "0s"}, "ticket " + offer["task"].(string) + ".k1"},
		{boss, "decide", m{"id": offer["task"], "verdict": "ANSWER", "text": "the first"}, "Answered"},
		{reviewer, "status", m{"id": handoff, "history": "false", "after": "0"}, "the first"},
		{reviewer, "complete", m{"task": handoff, "text": "done", "failed": "false", "tokens": 7.0}, "The task is complete"},
		{coder, "send", m{"task": task + ".h1", "to": "agent/reviewer", "confirm": "true", "budget": "4000", "constraints": []any{"never push to main"}}, "The handoff is recorded"},
		{reviewer, "accept", m{"handoff": task}, "You accepted"},
		{coder, "decide", m{"id": task, "verdict": "confirm"}, "You confirmed"},
		{coder, "cancel", m{"id": task, "why": "not needed", "epoch": "0"}, "cancelled"},
		{coder, "join", m{"readiness": "Busy", "channels": nil}, "busy"},
	} {
		if text, _, refused := c.by.try(c.tool, c.args); refused || !strings.Contains(text, c.says) {
			t.Errorf("%s %v: %s", c.tool, c.args, text)
		}
	}
	_, more := coder.call("send", m{"intent": "Document the parser", "to": "reviewer"})
	reviewer.call("accept", m{"handoff": more["handoff"]})
	for _, stuck := range []any{more["handoff"], "agent/reviewer"} {
		if text, _, _ := coder.try("escalate", m{"stuck": stuck, "detail": "it waits"}); !strings.Contains(text, "nobody can take it") && !strings.Contains(text, "not moved: ") {
			t.Errorf("escalate with stuck %s: %s", stuck, text)
		}
	}
	got, err := h.admin.Task(t.Context(), task)
	if err != nil || len(got.Constraints) != 1 || got.Constraints[0].Kind != client.ConstraintProhibition || got.Constraints[0].Text != "never push to main" {
		t.Errorf("the constraint is %+v, %v", got.Constraints, err)
	}
}

// byType fills each argument with the empty value of its type, and one of any type with an object; numbers and flags with null.
var byType = map[string]any{"string": "", "array": []any{}, "object": m{}, "": m{}}

// filled calls a tool as an agent that owns a task and is offered another, with a value for each argument that the call omits. It returns all
// events that the record has then, without what differs from server to server, and without looks at a task: a tool may need one to tell what an
// empty value means.
func filled(t *testing.T, tool string, args func(own, offered string) m, with any, fill bool) (text string, events []string, refused bool) {
	t.Helper()
	h := open(t)
	lead := h.agent(statelessVersion, "lead")
	coder, err := h.at(statelessVersion, "coder", "tools=all")
	if err != nil {
		t.Fatal(err)
	}
	_, own := coder.call("send", m{"intent": "Write the parser"})
	_, offer := lead.call("send", m{"intent": "Review the parser", "to": "coder"})
	call := maps.Clone(args(own["task"].(string), offer["handoff"].(string)))
	tools, err := coder.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tools.Tools {
		if x.Name != tool || !fill {
			continue
		}
		for name, schema := range x.InputSchema.(m)["properties"].(m) {
			if _, there := call[name]; there {
				continue
			}
			call[name] = with
			if values, ok := with.(map[string]any); ok {
				kind, _ := schema.(m)["type"].(string)
				call[name] = values[kind]
			}
		}
	}
	text, _, refused = coder.try(tool, call)
	var record strings.Builder
	if err := h.admin.Export(t.Context(), client.ExportOptions{}, &record); err != nil {
		t.Fatal(err)
	}
	events = strings.SplitAfter(ofOneServer.ReplaceAllString(record.String(), "…"), "\n")
	events = slices.DeleteFunc(events, func(e string) bool {
		return strings.Contains(e, `"event":"content-read"`) && strings.Contains(e, `"what":"task"`)
	})
	if len(events) < 2 {
		t.Fatalf("the record has no events: %s", record.String())
	}
	return text, events, refused
}

// ofOneServer matches what differs from server to server in an export: positions, times, ids, digests and random bytes, and the size of a
// prompt, since it has ids.
var ofOneServer = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|\b(task|mem)_[0-9a-z]+|"[a-z2-7]{16}"|\b[0-9a-f]{32,64}\b|"(tokens|position)":\d+`)

// An empty value beside the text of a result is filled in; alone, or where JSON is expected, it is the result.
func TestAnEmptyResultCountsWhereItCanBeMeant(t *testing.T) {
	h := open(t)
	lead, coder := h.agent(statelessVersion, "lead"), h.agent(statelessVersion, "coder")
	for _, c := range []struct {
		schema any
		result m
		want   string
	}{
		{nil, m{"text": "none", "data": nil}, `{"text":"none"}`},
		{nil, m{"text": "none", "data": ""}, `{"text":"none"}`},
		{nil, m{"text": "none", "data": m{}}, `{"text":"none"}`},
		{nil, m{"text": "none", "data": []any{}}, `{"text":"none"}`},
		{nil, m{"text": "none", "data": 0.0}, `{"text":"none","data":0}`},
		{nil, m{"data": []any{}}, `{"data":[]}`},
		{nil, m{"data": nil}, `{}`},
		{m{"type": "array"}, m{"text": "none", "data": []any{}}, `{"text":"none","data":[]}`},
		{m{"type": "null"}, m{"text": "none", "data": nil}, `{"text":"none","data":null}`},
	} {
		_, sent := lead.call("send", m{"intent": "Find bugs", "to": "coder", "schema": c.schema})
		coder.call("accept", m{"handoff": sent["handoff"]})
		c.result["task"] = sent["task"]
		coder.call("complete", c.result)
		got, err := h.admin.Task(t.Context(), sent["task"].(string))
		if err != nil || got.Result == nil {
			t.Fatalf("%v: %+v, %v", c.result, got.Result, err)
		}
		if text, _ := json.Marshal(got.Result); string(text) != c.want {
			t.Errorf("with schema %v, %v is %s, want %s", c.schema, c.result, text, c.want)
		}
	}
}
