//go:build slow

package mcpapi_test

import (
	"strings"
	"testing"
)

// Code in a result, an answer or a report keeps its lines where others read the state of a task, within a fence that it cannot end.
func TestWhatOthersWroteKeepsItsLines(t *testing.T) {
	h := open(t)
	lead, coder := h.agent(statelessVersion, "lead"), h.agent(statelessVersion, "coder")
	const code, fenced = "if a {\n\treturn 1 // ```\n}", "\n````\nif a {\n\treturn 1 // ```\n}\n````\n"
	_, own := lead.call("send", m{"intent": "Ship the parser"})
	_, sent := lead.call("send", m{"task": own["task"], "to": "coder", "kind": "delegation", "ask": "write it"})
	child := sent["children"].([]any)[0]
	_, offer := coder.call("inbox", m{})
	coder.call("accept", m{"handoff": offer["items"].([]any)[0].(m)["id"]})
	coder.call("progress", m{"task": child, "note": code})
	_, asked := coder.call("ask", m{"task": child, "question": "Which one?", "to": "lead"})
	lead.call("decide", m{"id": asked["ticket"], "verdict": "answer", "text": code})
	text, _ := coder.call("status", m{"id": child})
	if !strings.Contains(text, "Progress: "+fenced) || !strings.Contains(text, "Answers: \nlead answered `Which one?`: "+fenced) {
		t.Errorf("progress and answers: %s", text)
	}
	coder.call("complete", m{"task": child, "text": code})
	defer h.deliver()()
	lead.waitFor("resumed")
	if text, _ := lead.call("status", m{"id": own["task"]}); !strings.Contains(text, "for coder is completed: "+fenced) {
		t.Errorf("the result of a child: %s", text)
	}
}

// waitFor waits for an item of a type in the agent's inbox.
func (a *agent) waitFor(kind string) m {
	a.t.Helper()
	for range 5 {
		_, box := a.call("inbox", m{"wait": 45})
		for _, x := range box["items"].([]any) {
			if i, ok := x.(m); ok && i["type"] == kind {
				return i
			}
		}
	}
	a.t.Fatalf("%s has no %s", a.name, kind)
	return nil
}
