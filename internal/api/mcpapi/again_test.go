package mcpapi_test

import (
	"strings"
	"testing"
)

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
