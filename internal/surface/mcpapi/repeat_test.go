package mcpapi_test

import "testing"

func TestACallThatIsRepeatedAfterOwnershipMovedHappensOnce(t *testing.T) {
	eras(t, func(t *testing.T, era string) {
		h := open(t)
		coder, reviewer := h.agent(era, "coder"), h.agent(era, "reviewer")
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
