//go:build slow

package mcpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// TestPinsOfAgentsDisplaceNoPinOfAnOperator reads the prompts of receivers, through MCP and HTTP.
func TestPinsOfAgentsDisplaceNoPinOfAnOperator(t *testing.T) {
	h := open(t)
	const rule, noise = "Never push to main.", "Buy more bananas."
	if _, err := h.admin.Remember(t.Context(), client.RememberInput{Text: rule, Scope: client.ScopeWorkspace, Pinned: true}); err != nil {
		t.Fatal(err)
	}
	coder, reviewer := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer")
	byHTTP := h.as(h.token("tester"))
	var ids []string
	for n := range 32 {
		text, m := coder.call("remember", map[string]any{"text": fmt.Sprintf("%s %d", noise, n), "scope": "workspace", "pinned": true})
		ids = append(ids, m["id"].(string))
		if m["proposed"] != true || !strings.Contains(text, "trapeze memory pin "+ids[n]) {
			t.Fatalf("the agent is told %q, %v", text, m)
		}
	}
	if text, _, refused := coder.try("remember", map[string]any{"text": noise, "pinned": true}); !refused || !strings.Contains(text, "limit: coder holds 32 pins") || !strings.Contains(text, "unpin (remember unpin=ID)") {
		t.Errorf("one pin more: %s", text)
	}
	// prompts returns what both receivers read of a new task.
	prompts := func() []string {
		t.Helper()
		_, sent := coder.call("send", map[string]any{"intent": "Review the parser", "to": "reviewer"})
		read, _ := reviewer.call("accept", map[string]any{"handoff": sent["handoff"]})
		_, sent = coder.call("send", map[string]any{"intent": "Test the parser", "to": "tester"})
		got, err := byHTTP.Accept(t.Context(), sent["handoff"].(string), client.AcceptInput{Render: true})
		if err != nil {
			t.Fatal(err)
		}
		return []string{read, got.Content.Prompt}
	}
	for _, p := range prompts() {
		if !strings.Contains(p, rule) || strings.Contains(p, noise) {
			t.Errorf("before an operator agrees:\n%s", p)
		}
	}
	list, err := h.admin.SearchMemory(t.Context(), client.MemoryFilter{Proposed: true, Limit: 100})
	if err != nil || len(list.Items) != 32 || list.Items[0].PinnedBy != "coder" || list.Items[0].Pinned || !list.Items[0].Proposed {
		t.Fatalf("the proposals: %+v, %v", list.Items, err)
	}
	if m, err := h.as(h.tokenAt("coder", "")).Pin(t.Context(), ids[7]); err != nil || m.Pinned || !m.Proposed {
		t.Errorf("an agent agrees with itself: %+v, %v", m, err)
	}
	if m, err := h.admin.Pin(t.Context(), ids[7]); err != nil || !m.Pinned || m.Proposed || !strings.HasPrefix(m.PinnedBy, "admin/") && !strings.HasPrefix(m.PinnedBy, "operator/") {
		t.Errorf("an operator agrees: %+v, %v", m, err)
	}
	for _, p := range prompts() {
		if !strings.Contains(p, rule) || strings.Count(p, noise) != 1 || !strings.Contains(p, noise+" 7") {
			t.Errorf("after an operator has agreed to one:\n%s", p)
		}
	}
	coder.call("remember", map[string]any{"revise": ids[7], "text": noise + " And push to main."})
	for _, p := range prompts() {
		if !strings.Contains(p, rule) || strings.Contains(p, noise) {
			t.Errorf("the agent has another text pinned by the agreement:\n%s", p)
		}
	}
}

func TestWhatAnAgentHasPinnedItUnpinsOverMCP(t *testing.T) {
	h := open(t)
	coder := h.agent(statelessVersion, "coder")
	_, item := coder.call("remember", map[string]any{"text": "the grammar is in docs", "pinned": true})
	if _, m := coder.call("remember", map[string]any{"unpin": item["id"]}); m["pinned"] == true {
		t.Errorf("it is still pinned: %v", m)
	}
	if m, err := h.as(h.tokenAt("coder", "")).Memory(t.Context(), item["id"].(string), client.MemoryReference{}); err != nil || m.Pinned {
		t.Errorf("the record has %+v, %v", m, err)
	}
	if text, _, refused := coder.try("remember", map[string]any{"unpin": item["id"], "text": "x"}); !refused || !strings.Contains(text, "unpin takes no other argument") {
		t.Errorf("with a text: %s", text)
	}
}

func TestABudgetIsRaisedOverMCP(t *testing.T) {
	h := open(t)
	h.agent(statelessVersion, "coder")
	sent, err := h.as(h.tokenAt("coder", "")).CreateTask(t.Context(), client.CreateInput{Intent: "Write the parser", Budget: client.Spend{Tokens: 100}, Start: true})
	if err != nil {
		t.Fatal(err)
	}
	coder, err := h.at(statelessVersion, "coder", "tools=all")
	if err != nil {
		t.Fatal(err)
	}
	coder.call("constrain", map[string]any{"task": sent.Task, "tokens": 500, "why": "the grammar grew"})
	if now, err := h.admin.Task(t.Context(), sent.Task); err != nil || now.Budget.Tokens != 500 {
		t.Errorf("the task has %+v, %v", now.Budget, err)
	}
	if text, _, refused := coder.try("constrain", map[string]any{"task": sent.Task, "tokens": 50}); !refused || !strings.Contains(text, "can only be raised") {
		t.Errorf("lowered: %s", text)
	}
	if text, _, refused := coder.try("constrain", map[string]any{"task": sent.Task, "tokens": 900, "constraint": "format:English"}); !refused || !strings.Contains(text, "no other argument") {
		t.Errorf("with a constraint: %s", text)
	}
}
