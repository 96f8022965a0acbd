//go:build slow

package mcpapi_test

import (
	"strings"
	"testing"
)

func TestASessionThatAcceptsAgainGoesOn(t *testing.T) {
	h := open(t)
	first, _, task, _ := twoSessions(h, sessionVersion)
	first.call("accept", m{"handoff": task}) // as the refusal says
	if _, done := first.call("complete", m{"task": task, "text": "done"}); done["state"] != "completed" {
		t.Errorf("%v", done)
	}
}

// A session that had the task, gave it away and asked for it again is its owner once the request is granted; a session that did not ask is
// not.
func TestASessionThatAskedForItsTaskAgainGoesOn(t *testing.T) {
	h := open(t)
	token := h.token("coder")
	asking, other := h.connect(sessionVersion, "coder", token, nil), h.connect(sessionVersion, "coder", token, nil)
	lead, tester := h.agent(sessionVersion, "lead"), h.agent(sessionVersion, "tester")
	_, sent := lead.call("send", m{"intent": "Write the parser", "to": "coder"})
	task := sent["task"]
	asking.call("accept", m{"handoff": sent["handoff"]})
	other.call("status", m{"id": task})
	_, sent = asking.call("send", m{"task": task, "to": "tester", "facts": []string{"It compiles."}})
	tester.call("accept", m{"handoff": sent["handoff"]})
	tester.call("progress", m{"task": task, "note": "two tests fail"})
	asking.call("accept", m{"takeover": task, "detail": "two tests fail"})
	_, box := tester.call("inbox", m{})
	tester.call("decide", m{"id": box["items"].([]any)[0].(m)["id"], "verdict": "approve", "text": "The flaky one is yours."})

	text, _ := asking.call("inbox", m{})
	if !strings.Contains(text, "resumed") || !strings.Contains(text, "accept with its task") {
		t.Errorf("the inbox of the new owner: %s", text)
	}
	asking.call("status", m{"id": task})
	asking.call("progress", m{"task": task, "note": "on it again"})
	if text, _, refused := other.try("progress", m{"task": task, "note": "on it"}); !refused || !strings.Contains(text, "another session of coder") {
		t.Errorf("the session that did not ask: %s", text)
	}
	if context, _ := asking.call("accept", m{"handoff": task}); !strings.Contains(context, "It compiles.") || !strings.Contains(context, "\ntester granted the takeover by coder: The flaky one is yours.\n") {
		t.Errorf("accept with the task: %s", context)
	}
	asking.call("complete", m{"task": task, "text": "done"})
}

func TestAnAgentThatGetsATaskBackIsToldTheEpochThatItsCallsName(t *testing.T) {
	h := open(t)
	tester := h.agent(statelessVersion, "tester")
	for _, version := range []string{statelessVersion, sessionVersion} {
		var short bool // in any budget: how many tokens are left over depends on the ids
		for _, tokens := range []int{0, 150, 154, 158, 162, 166, 170, 174} {
			coder := h.agent(version, "coder")
			_, sent := tester.call("send", m{"intent": "Write the parser", "to": "coder"})
			first, _ := coder.call("accept", m{"handoff": sent["handoff"]})
			coder.call("progress", m{"task": sent["task"], "note": "begun"})
			_, sent = coder.call("send", m{"task": sent["task"], "to": "tester"})
			tester.call("accept", m{"handoff": sent["handoff"]})
			tester.call("progress", m{"task": sent["task"], "note": "tried"})
			back := m{"task": sent["task"], "to": "coder", "facts": []string{"It fails."}}
			if tokens > 0 {
				back["budget"], back["facts"] = tokens, []string{strings.Repeat("It fails. ", 12), strings.Repeat("It still fails. ", 3), "So.", "Or so.", "Or not.", "Not so.", "So so.", "Nor so."}
			}
			_, sent = tester.call("send", back)
			text, _ := coder.call("accept", m{"handoff": sent["handoff"]})
			line, _, _ := strings.Cut(text, "\n")
			if named := strings.Contains(line, "epoch=3"); named != (version == statelessVersion) || strings.Contains(first, "epoch=") {
				t.Errorf("%s, %d tokens: %s", version, tokens, line)
			}
			full := strings.HasPrefix(line, "# epoch=3 task")
			if short = short || full; full && tokens == 0 {
				t.Errorf("%s, without a budget: %s", version, line)
			}
			done := m{"task": sent["task"], "text": "done"}
			if version == statelessVersion {
				done["epoch"] = 3
			}
			coder.call("complete", done)
		}
		if short != (version == statelessVersion) {
			t.Errorf("%s: the first line of a prompt whose rest takes up the budget is shorter: %t", version, short)
		}
	}
}

func TestANewSessionIsGivenTheEpochByStatus(t *testing.T) {
	h := open(t)
	_, _, task, _ := twoSessions(h, sessionVersion)
	h.revoke("coder")
	third := h.connect(sessionVersion, "coder", h.tokenAt("coder", ""), nil)
	if text, _, refused := third.try("complete", m{"task": task, "text": "done"}); !refused || !strings.Contains(text, "more than once") {
		t.Errorf("at once: %s", text)
	}
	third.call("status", m{"id": task})
	third.call("complete", m{"task": task, "text": "done"})
}

func TestAReplayLeavesTheEpochToTheSession(t *testing.T) {
	h := open(t)
	lead, coder, tester := h.agent(statelessVersion, "lead"), h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "tester")
	reviewer, olga := h.agent(statelessVersion, "reviewer"), h.operator("olga")
	_, sent := lead.call("send", m{"intent": "Write the parser", "to": "coder"})
	task := sent["task"].(string)
	pass := func(from, to *agent, name string, facts []string) {
		t.Helper()
		if from != nil {
			_, sent = from.call("send", m{"task": task, "to": name, "facts": facts})
		}
		to.call("accept", m{"handoff": sent["handoff"]})
	}
	pass(nil, coder, "", nil)
	pass(coder, tester, "tester", []string{"It compiles."})
	if _, sent = tester.call("send", m{"task": task, "to": "coder"}); sent["state"] != "parked" {
		t.Fatalf("back without work: %v", sent)
	}
	_, sent = olga.call("dead", m{"action": "replay", "task": task, "to": "reviewer", "why": "reviewer can"})
	pass(nil, reviewer, "", nil)
	reviewer.call("progress", m{"task": task, "note": "on it"}) // it never had the task before
	got, err := h.admin.Task(t.Context(), task)
	if err != nil || got.Parked != nil || len(got.Path) != 3 || got.Path[0].Agent != "coder" || got.Path[2].Agent != "reviewer" {
		t.Errorf("parked %+v, path %+v, %v", got.Parked, got.Path, err)
	}
	pass(reviewer, coder, "coder", []string{"It parses."}) // had it before the replay
	if text, _, refused := coder.try("complete", m{"task": task, "text": "done"}); !refused || !strings.Contains(text, "more than once") {
		t.Errorf("a second time, across the replay: %s", text)
	}
	coder.call("complete", m{"task": task, "text": "done", "epoch": 4})
}
