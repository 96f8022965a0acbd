package mcpapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

func TestAnArgumentThatWouldCountForNothingIsRefused(t *testing.T) {
	h := open(t)
	coder := h.full("coder")
	_, task := coder.call("send", m{"intent": "Write the parser"})
	_, kept := coder.call("remember", m{"text": "the grammar is in docs"})
	id := task["task"]
	for _, c := range []struct {
		tool string
		args m
		says string
	}{
		{"agent", m{"agent": "coder", "action": "register", "presence_ttl": "1"}, `presence_ttl is "1"; write it as 45s, 10m or 2h`},
		{"agent", m{"agent": "coder", "action": "register", "presence_ttl": 90}, `presence_ttl is "90"; write it as 45s, 10m or 2h`},
		{"send", m{"task": id, "to": []any{"writer", " "}}, "to cannot be read: one of the list is empty"},
		{"status", m{"wait": 45}, "id of one task"},
		{"status", m{"history": true}, "id of one task"},
		{"status", m{"id": id, "history": true, "wait": 45}, "without wait"},
		{"send", m{"intent": "Write another", "kind": "broadcast"}, "to, capability or channel"},
		{"send", m{"intent": "Write another", "confirm": true}, "to, capability or channel"},
		{"send", m{"task": id, "to": "writer", "share_only": true, "kind": "cold"}, "share_only"},
		{"send", m{"task": id, "to": "writer", "facts": []any{m{"text": "a", "source": "b"}}}, "fact and decision"},
		{"remember", m{"revise": kept["id"], "text": "moved", "tags": "docs"}, "text and title"},
		{"recall", m{"id": kept["id"], "query": "grammar"}, "one of the two"},
		{"accept", m{"handoff": "task_x.h1", "detail": "gladly"}, "omit it"},
		{"reject", m{"handoff": "task_x.h1", "reason": "overloaded", "missing": "facts"}, "missing_context"},
		{"remember", m{"forget": kept["id"], "text": "moved"}, "forget"},
		{"complete", m{"task": id, "failed": true}, "complete needs text with failed"},
	} {
		if text, _, refused := coder.try(c.tool, c.args); !refused || !strings.Contains(text, c.says) {
			t.Errorf("%s %v: %s", c.tool, c.args, text)
		}
	}
}

func TestAVerdictThatIsNoneDecidesNothing(t *testing.T) {
	h := open(t)
	h.token("boss")
	coder := h.agent(statelessVersion, "coder")
	boss := h.connect(statelessVersion, "boss", h.tokenAt("boss", ""), &mcp.ClientOptions{
		MultiRoundTrip:     &mcp.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return nil, nil },
	})
	_, task := coder.call("send", m{"intent": "Move the data"})
	_, got := coder.call("ask", m{"task": task["task"], "question": "Shall I?", "to": "boss"})
	args := m{"id": got["ticket"]}
	first, err := boss.CallTool(t.Context(), &mcp.CallToolParams{Name: "decide", Arguments: args})
	if err != nil || !first.NeedsInput() {
		t.Fatalf("no question: %v", err)
	}
	said := mcp.InputResponseMap{}
	for id := range first.InputRequests {
		said[id] = accepts(m{"verdict": "maybe"})
	}
	r, err := boss.CallTool(t.Context(), &mcp.CallToolParams{Name: "decide", Arguments: args, RequestState: first.RequestState, InputResponses: said})
	if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, "is not a verdict") {
		t.Errorf("it was taken for a decision: %v, %+v", err, r)
	}
}

func TestAKeyKeepsNoCallFromMakingTwoChanges(t *testing.T) {
	h := open(t)
	coder := h.agent(statelessVersion, "coder")
	for _, args := range []m{{"readiness": "busy", "description": "writes parsers"}, {"readiness": "busy", "description": "writes parsers"}} {
		r, err := coder.CallTool(t.Context(), &mcp.CallToolParams{Name: "join", Arguments: args, Meta: mcp.Meta{"trapeze/key": "k1"}})
		if err != nil || r.IsError || r.StructuredContent.(m)["readiness"] != "busy" {
			t.Errorf("%v, %+v", err, r.Content[0])
		}
	}
	known, err := h.admin.Agent(t.Context(), "coder")
	if err != nil || known.Readiness != client.Busy || known.Spec.Description != "writes parsers" {
		t.Errorf("%+v, %v", known, err)
	}
}

func TestAResultIsShownWithItsTextAndItsData(t *testing.T) {
	h := open(t)
	coder := h.agent(statelessVersion, "coder")
	_, task := coder.call("send", m{"intent": "Count the files"})
	coder.call("complete", m{"task": task["task"], "text": "Counted.", "data": m{"files": 12}})
	if text, _ := coder.call("status", m{"id": task["task"]}); !strings.Contains(text, "\n```\nCounted.\n{\"files\":12}\n```\n") {
		t.Errorf("%s", text)
	}
}

// Programs read the code of a refusal, what to do and the details as data, from every tool.
func TestARefusalHasItsCodeAndHintAsData(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder := h.agent(version, "coder")
		tools, err := coder.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range tools.Tools {
			text, data, refused := coder.try(x.Name, m{"colour": "red"})
			message, _ := data["message"].(string)
			if !refused || data["code"] != "invalid" || !strings.Contains(message, "colour") || !strings.Contains(text, message) {
				t.Errorf("%s: %v, text: %s", x.Name, data, text)
			}
		}
		_, task := coder.call("send", m{"intent": "Count the files", "result_schema": m{"type": "object", "required": []any{"files"}}})
		text, data, refused := coder.try("complete", m{"task": task["task"], "data": m{"lines": 3}})
		hint, _ := data["hint"].(string)
		details, _ := data["details"].(m)
		if !refused || hint == "" || !strings.Contains(text, hint) || len(details) == 0 {
			t.Errorf("%v, text: %s", data, text)
		}
		if _, data, _ := coder.try("status", m{"id": "task_06h0d6kx72vy551j703df33p3c"}); data["code"] != "not_found" || data["hint"] == "" {
			t.Errorf("of a tool that answers in text: %v", data)
		}
	})
}

// Every refusal says what to do next, also of arguments that cannot be read.
func TestARefusalOfArgumentsSaysWhatToDo(t *testing.T) {
	h := open(t)
	coder := h.full("coder")
	for tool, args := range map[string]any{
		"send": m{"intent": 7}, "accept": m{}, "status": m{"wait": 99, "id": "task_00000000000000000000000000"}, "inbox": m{"nonsense": true}, "decide": m{"id": "x", "verdict": "maybe"}, "agent": m{"agent": "coder", "keep": 1},
	} {
		text, data, refused := coder.try(tool, args)
		if hint, _ := data["hint"].(string); !refused || hint == "" || !strings.Contains(text, "What to do: ") {
			t.Errorf("%s with %v: %s, %v", tool, args, text, data)
		}
	}
}

// A refusal of the API names the argument as the tool has it, not the field of the API.
func TestARefusalNamesTheArgumentOfTheTool(t *testing.T) {
	h := open(t)
	coder := h.full("coder")
	h.token("lead")
	_, task := coder.call("send", m{"intent": "Count the files"})
	for _, c := range []struct {
		args m
		says string
	}{
		{m{"intent": "Count", "result_schema": m{"type": "nonsense"}}, "invalid: result_schema"},
		{m{"intent": "Count", "result_schema": 3}, "invalid: result_schema"},
		{m{"task": task["task"], "to": "lead", "steps": []any{m{"action": ""}}}, "invalid: steps[0].action"},
		{m{"intent": "Count", "to": []any{"a", "b"}, "fan_out": true, "quorum": 2}, "invalid: fan_out"},
	} {
		if text, _, refused := coder.try("send", c.args); !refused || !strings.Contains(text, c.says) {
			t.Errorf("%v: %s", c.args, text)
		}
	}
}
