//go:build slow

package mcpapi_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

func TestACallThatIsRepeatedAfterOwnershipMovedHappensOnce(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder, reviewer := h.agent(version, "coder"), h.agent(version, "reviewer")
		reviewer.call("join", m{})
		_, task := coder.call("send", m{"intent": "Write the parser"})
		again := m{"task": task["task"], "to": "reviewer", "key": "k1"}
		_, first := coder.call("send", again)
		_, got := reviewer.call("accept", m{"handoff": first["handoff"]})
		_, second := coder.call("send", again)
		if second["handoff"] != first["handoff"] || second["repeat"] != true {
			t.Errorf("the repeat made %v", second)
		}
		done := m{"task": task["task"], "text": "done", "key": "k2"}
		reviewer.call("complete", done)
		if _, twice := reviewer.call("complete", done); twice["repeat"] != true || got["epoch"] == nil {
			t.Errorf("the second completion is %v", twice)
		}
	})
}

// The answer to a decision can be lost as well. A call that is repeated with its key is answered as before, and decides nothing again.
func TestADecisionThatIsRepeatedWithItsKeyHappensOnce(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder, reviewer := h.agent(version, "coder"), h.agent(version, "reviewer")
		twice := func(a *agent, tool string, args m) {
			t.Helper()
			args["key"] = "once " + tool
			a.call(tool, args)
			if text, data := a.call(tool, args); data["repeat"] != true && !strings.Contains(text, "You take over") {
				t.Errorf("%s: %s, %v", tool, text, data)
			}
		}
		_, first := coder.call("send", m{"intent": "Review the parser", "to": "reviewer"})
		twice(reviewer, "reject", m{"handoff": first["handoff"], "reason": "overloaded"})
		_, second := coder.call("send", m{"intent": "Test the parser", "to": "reviewer"})
		twice(reviewer, "accept", m{"handoff": second["handoff"]})
		reviewer.call("ask", m{"task": second["task"], "question": "Which one?", "to": "coder"})
		twice(coder, "decide", m{"id": second["task"].(string) + ".k1", "verdict": "answer", "text": "the first"})
		twice(coder, "cancel", m{"id": second["task"], "why": "not needed"})
	})
}

func TestWhatThePolicyKeepsIsKeptOnce(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		operator, err := h.admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleOperator, Name: "olga"})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			who         *agent
			state, next string
		}{
			{h.agent(version, "coder"), "executing", "continue it yourself"},
			{h.connect(version, "olga", operator.Text, nil), "pending", "an agent in to"}, // people own no tasks
		} {
			again := m{"intent": "Write the parser", "to": "auto", "key": "k1"}
			_, first := x.who.call("send", again)
			text, second := x.who.call("send", again)
			if first["state"] != x.state || second["state"] != x.state || second["task"] != first["task"] || second["repeat"] != true {
				t.Errorf("it is first %v, then %v", first, second)
			}
			if !strings.Contains(text, "Nothing was handed off") || !strings.Contains(text, x.next) {
				t.Errorf("the repeat says: %s", text)
			}
		}
	})
}
