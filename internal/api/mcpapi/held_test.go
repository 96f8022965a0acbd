package mcpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/mcpapi"
)

// twoSessions is an agent whose first session accepted a task under an epoch, and whose second session accepted it again under a later
// one, after it was with another agent.
func twoSessions(h *harness, version string) (first, second *agent, task string, epoch any) {
	h.t.Helper()
	token := h.token("coder")
	lead, tester := h.agent(version, "lead"), h.agent(version, "tester")
	first, second = h.connect(version, "coder", token, nil), h.connect(version, "coder", token, nil)
	_, made := lead.call("send", m{"intent": "Write the parser", "to": "coder"})
	first.call("accept", m{"handoff": made["handoff"]})
	task, _ = made["task"].(string)
	_, sent := second.call("send", m{"task": task, "to": "tester", "facts": []string{"It compiles."}})
	tester.call("accept", m{"handoff": sent["handoff"]})
	tester.call("progress", m{"task": task, "note": "two tests fail"})
	_, back := tester.call("send", m{"task": task, "to": "coder", "facts": []string{"Two tests fail."}})
	_, got := second.call("accept", m{"handoff": back["handoff"]})
	return first, second, task, got["epoch"]
}

func TestASessionCompletesOnlyUnderTheEpochThatItWasGiven(t *testing.T) {
	h := open(t)
	first, second, task, _ := twoSessions(h, sessionVersion)
	first.call("status", m{"id": task}) // to look is not to accept
	for tool, args := range map[string]m{
		"complete": {"task": task, "text": "done"}, "progress": {"task": task, "note": "still on it"}, "send": {"task": task, "to": "lead"},
		"escalate": {"task": task, "to": "human:operators"}, "ask": {"task": task, "question": "which one?"},
		"cancel": {"id": task, "why": "not needed"},
	} {
		text, _, refused := first.try(tool, args)
		if !refused || !strings.Contains(text, "stale_epoch") || !strings.Contains(text, "another session of coder") || !strings.Contains(text, "accept") {
			t.Errorf("%s of the first session: %s", tool, text)
		}
	}
	second.call("progress", m{"task": task, "note": "on it"})
	if _, done := second.call("complete", m{"task": task, "text": "done"}); done["state"] != "completed" {
		t.Errorf("the second session: %v", done)
	}
}

func TestACallThatCannotTellItsEpochIsRefused(t *testing.T) {
	h := open(t)
	_, stateless, task, epoch := twoSessions(h, statelessVersion)
	text, _, refused := stateless.try("complete", m{"task": task, "text": "done"})
	if !refused || !strings.Contains(text, "stale_epoch") || !strings.Contains(text, "status") {
		t.Errorf("without an epoch: %s", text)
	}
	if seen, _ := stateless.call("status", m{"id": task}); !strings.Contains(seen, fmt.Sprintf("epoch %v", epoch)) {
		t.Errorf("status does not show the epoch: %s", seen)
	}
	if _, done := stateless.call("complete", m{"task": task, "text": "done", "epoch": epoch}); done["state"] != "completed" {
		t.Errorf("%v", done)
	}
}

// The task is claimed even if its context cannot be read after that.
func TestASessionHoldsWhatItClaimedWithoutItsContext(t *testing.T) {
	h := open(t)
	broken := false
	zoe := h.served(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken && strings.HasSuffix(r.URL.Path, "/content") {
			http.Error(w, "the disk is full", http.StatusInternalServerError)
			return
		}
		h.api.ServeHTTP(w, r)
	}), h.token("zoe", "human", "refunds"), mcpapi.Options{})
	coder := h.agent(sessionVersion, "coder")
	_, made := zoe.call("send", m{"intent": "Refund order 7"})
	_, given := zoe.call("send", m{"task": made["task"], "to": "coder"})
	coder.call("accept", m{"handoff": given["handoff"]})
	_, sent := coder.call("send", m{"task": made["task"], "to": "human:refunds"})
	broken = true
	if text, _, refused := zoe.try("decide", m{"id": sent["ticket"], "verdict": "claim"}); !refused {
		t.Fatalf("there was a context: %s", text)
	}
	if text, done, refused := zoe.try("complete", m{"task": made["task"], "text": "done"}); refused || done["state"] != "completed" {
		t.Errorf("the owner is refused: %s", text)
	}
}
