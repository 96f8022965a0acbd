package mcpapi_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// What models write for something else counts as what they mean, if it can mean nothing else.
func TestToolsTakeWhatIsUnambiguous(t *testing.T) {
	h := open(t)
	coder, reviewer, boss := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer"), h.agent(statelessVersion, "boss")
	_, own := coder.call("send", m{"intent": "Write the parser"})
	_, offer := coder.call("send", m{"intent": "Review the parser", "to": "agent/reviewer", "priority": "HIGH", "result_schema": nil, "fan_out": "false"})
	_, other := coder.call("send", m{"intent": "Test the parser", "to": "reviewer", "result_schema": `{"type": "object"}`})
	task, handoff := own["task"].(string), offer["handoff"].(string)
	for _, c := range []struct {
		by   *agent
		tool string
		args m
		says string
	}{
		{reviewer, "inbox", m{"wait": "1s", "limit": "5"}, "high"},
		{reviewer, "inbox", m{"wait": "0", "limit": 5.0}, "high"},
		{reviewer, "reject", m{"handoff": other["task"], "reason": "Missing context", "missing": "facts"}, "You rejected it"},
		{reviewer, "accept", m{"handoff": offer["task"], "takeover": "", "detail": nil}, "You take over task"},
		{coder, "accept", m{"takeover": handoff, "detail": "mine after all"}, "The owner was asked"},
		{reviewer, "decide", m{"id": offer["task"], "verdict": "deny"}, "Denied"},
		{reviewer, "progress", m{"task": handoff, "note": "half of it", "tokens": "45"}, "Recorded"},
		{reviewer, "progress", m{"task": handoff, "note": "", "tokens": 5}, "Recorded"},
		{reviewer, "status", m{"id": handoff}, "Progress: `half of it`\nSpent: 50 tokens\n"},
		{reviewer, "conversation", m{"id": "talk", "say": "hello", "task": handoff, "limit": 45.0}, "Turn 1"},
		{reviewer, "remember", m{"text": "the grammar is in docs", "task": handoff, "importance": nil}, "Stored"},
		{reviewer, "recall", m{"query": "grammar", "agent": "agent/reviewer", "task": handoff, "limit": "3"}, "the grammar is in docs"},
		{reviewer, "route", m{"task": handoff, "files": ""}, "policy"},
		{reviewer, "ask", m{"task": handoff, "question": "Which one?", "to": "agent/boss", "wait": "0s"}, "ticket " + offer["task"].(string) + ".k1"},
		{boss, "decide", m{"id": offer["task"], "verdict": "ANSWER", "text": "the first"}, "Answered"},
		{reviewer, "status", m{"id": handoff, "history": "false", "after": "0"}, "the first"},
		{reviewer, "complete", m{"task": handoff, "text": "done", "failed": "false", "tokens": 7.0}, "The task is complete"},
		{coder, "send", m{"task": task, "to": "agent/reviewer", "confirm": "true", "budget": "4000", "constraints": []any{"never push to main"}}, "The handoff is recorded"},
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
