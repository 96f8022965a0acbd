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

// What an item of the inbox says to call is not refused.
func TestAnOwnerGetsTheContextOfItsTaskAgain(t *testing.T) {
	h := open(t)
	lead, coder := h.agent(statelessVersion, "lead"), h.agent(statelessVersion, "coder")
	_, own := coder.call("send", m{"intent": "Ship the parser", "facts": "it is in Go"})
	_, asked := coder.call("ask", m{"task": own["task"], "question": "Which one?", "to": "lead"})
	if text, _ := coder.call("status", m{}); !strings.Contains(text, "[decide: deny withdraws it]") {
		t.Errorf("one's own question: %s", text)
	}
	lead.call("decide", m{"id": asked["ticket"], "verdict": "answer", "text": "the first"})
	text, _ := coder.call("inbox", m{})
	if !strings.Contains(text, "resumed") || !strings.Contains(text, "accept with its task gives its context again") {
		t.Fatalf("the inbox: %s", text)
	}
	if text, _ := coder.call("accept", m{"handoff": own["task"]}); !strings.Contains(text, "Ship the parser") || !strings.Contains(text, "it is in Go") {
		t.Errorf("the context: %s", text)
	}
	coder.call("send", m{"task": own["task"], "to": "lead", "ask": "review it"})
	if text, _, refused := coder.try("accept", m{"handoff": own["task"]}); !refused {
		t.Errorf("it accepted its own offer: %s", text)
	}
	lead.call("reject", m{"handoff": own["task"], "reason": "overloaded"})
	if text, _ := coder.call("accept", m{"handoff": own["task"]}); !strings.Contains(text, "Ship the parser") {
		t.Errorf("the context of a task that returned: %s", text)
	}
}

// An approver is not told that the task is its own.
func TestAPreviewSaysWhomItIsFor(t *testing.T) {
	h := open(t)
	boss, coder := h.agent(statelessVersion, "boss"), h.agent(statelessVersion, "coder")
	h.agent(statelessVersion, "reviewer")
	_, own := coder.call("send", m{"intent": "Ship the parser"})
	_, sent := coder.call("send", m{"task": own["task"], "to": "reviewer", "kind": "supervised", "approver": "boss", "ask": "review it"})
	text, _ := boss.call("status", m{"id": sent["handoff"], "preview": true})
	if !strings.HasPrefix(text, "# Preview of task ") || !strings.Contains(text, "review it") || strings.Contains(text, "You take over") {
		t.Errorf("an approver reads: %s", text)
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
