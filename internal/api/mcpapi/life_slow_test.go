//go:build slow

package mcpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// Who is named for a copy and cannot be reached is in the answer of the send, in the task and, where the parent has no owner, in its result, over each API. Who would
// stand in for a receiver gets no copy, and is not missed.
func TestWhoGetsNoCopyIsNamed(t *testing.T) {
	h := open(t)
	defer h.deliver()()
	coder, ann := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "ann")
	for name, readiness := range map[string]string{"ann": "ready", "bob": "offline", "cy": "ready", "dee": "offline"} {
		h.agent(statelessVersion, name).call("join", m{"readiness": readiness})
	}
	for name, spec := range map[string]client.AgentSpec{"ann": {Fallbacks: []string{"dee"}}, "cy": {ContextWindow: 40}} {
		if _, err := h.admin.RegisterAgent(t.Context(), name, spec); err != nil {
			t.Fatal(err)
		}
	}
	missed := func(where string, given any) {
		t.Helper()
		list, _ := given.(m)
		if len(list) != 2 || !strings.Contains(fmt.Sprint(list["bob"]), "offline") || !strings.Contains(fmt.Sprint(list["cy"]), "too small a token budget") {
			t.Errorf("%s: not reached are %v", where, given)
		}
	}
	fan := m{"intent": "Read this", "to": []string{"ann", "bob", "cy"}, "kind": "broadcast", "fan_out": true}
	text, sent := coder.call("send", fan)
	missed("the answer", sent["not_reached"])
	if !strings.Contains(text, "Not reached, and without a copy: bob: ") {
		t.Errorf("the answer: %s", text)
	}
	text, data := coder.call("status", m{"id": sent["task"]})
	missed("the task", data["task"].(m)["not_reached"])
	if !strings.Contains(text, "\nNot reached: bob: ") {
		t.Errorf("the task: %s", text)
	}
	_, box := ann.call("inbox", m{"wait": 45})
	id := box["items"].([]any)[0].(m)["id"].(string)
	ann.call("accept", m{"handoff": id})
	ann.call("complete", m{"task": strings.TrimSuffix(id, ".h1"), "text": "read"})
	got, err := h.admin.Task(t.Context(), sent["task"].(string))
	for err == nil && !got.State.Final() {
		got, err = h.admin.WaitTask(t.Context(), got.ID, got.Position, 30*time.Second)
	}
	if err != nil || len(got.NotReached) != 2 || got.Result == nil || !strings.HasPrefix(got.Result.Text, "1 result; not reached: bob ") {
		t.Errorf("the result: %+v, %v, %v", got.Result, got.NotReached, err)
	}
}

// What is missing is recorded with the tokens that were used, shows that the owner is alive, and is told to the next one, with the note.
func TestAReportOfAGapRenewsTheLeaseAndCountsTheTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		coder, reviewer := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer")
		_, sent := coder.call("send", m{"intent": "Review the parser", "to": "reviewer"})
		reviewer.call("accept", m{"handoff": sent["handoff"]})
		task := sent["task"].(string)
		before, err := h.admin.Task(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		text, _ := reviewer.call("progress", m{"task": task, "note": "half of it", "tokens": 1200, "gap": []any{"the grammar"}})
		after, err := h.admin.Task(t.Context(), task)
		if err != nil || !after.Lease.After(before.Lease) || after.Spent.Tokens != 1200 {
			t.Errorf("%q, but the lease was %s and is %s; tokens: %d, %v", text, before.Lease, after.Lease, after.Spent.Tokens, err)
		}
		if !strings.Contains(text, "your lease was renewed") {
			t.Errorf("the answer is %q", text)
		}
		tester := h.agent(statelessVersion, "tester")
		_, on := reviewer.call("send", m{"task": task, "to": "tester"})
		given, _ := tester.call("accept", m{"handoff": on["handoff"]})
		for _, want := range []string{"half of it", "the grammar"} {
			if !strings.Contains(given, want) {
				t.Errorf("the next receiver does not read %q:\n%s", want, given)
			}
		}
	})
}

// Who withdraws a handoff is told who owns the task, and what can be done with it now.
func TestWhoWithdrawsAHandoffIsToldWhoOwnsTheTask(t *testing.T) {
	h := open(t)
	coder := h.agent(statelessVersion, "coder")
	h.agent(statelessVersion, "reviewer")
	_, sent := coder.call("send", m{"intent": "Review the parser", "to": "reviewer"})
	text, _ := coder.call("cancel", m{"id": sent["handoff"], "why": "found it"})
	task := sent["task"].(string)
	if !strings.Contains(text, "nobody owns the task: send with task="+task+" hands it to another agent, cancel with id="+task+" ends it") {
		t.Errorf("a task that nobody owned: %s", text)
	}
	_, again := coder.call("send", m{"task": task, "to": "reviewer"})
	if again["stage"] != "offered" {
		t.Errorf("sent again: %v", again)
	}
	_, own := coder.call("send", m{"intent": "Write the parser"})
	_, sent = coder.call("send", m{"task": own["task"], "to": "reviewer"})
	if text, _ := coder.call("cancel", m{"id": sent["handoff"], "why": "found it"}); !strings.Contains(text, "you own the task: continue it") {
		t.Errorf("a task of its own: %s", text)
	}
	_, sent = coder.call("send", m{"task": own["task"], "to": "reviewer"})
	if text, _ := h.operator("olga").call("cancel", m{"id": sent["handoff"], "why": "not now"}); !strings.Contains(text, "coder owns the task and continues it") {
		t.Errorf("a task of another: %s", text)
	}
}
