package mcpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Neither the agent that had it before reads it again, nor one that gets the task later.
func TestWhatWasForgottenIsReadByNoToolAndNoResource(t *testing.T) {
	const secret = "swordfish"
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder, reviewer, late := h.agent(version, "coder"), h.agent(version, "reviewer"), h.agent(version, "late")
		for _, a := range []*agent{reviewer, late} {
			a.call("join", m{})
		}
		_, item := coder.call("remember", m{"text": "it is " + secret, "title": secret, "scope": "workspace"})
		_, sent := coder.call("send", m{"intent": "Fix the login", "to": "reviewer", "memory": []any{item["id"]}})
		if text := reviewer.read("accept", m{"handoff": sent["handoff"]}); !strings.Contains(text, secret) {
			t.Fatalf("it was not there before:\n%s", text)
		}
		coder.call("remember", m{"forget": item["id"]})
		task := sent["task"].(string)
		for _, a := range []*agent{coder, reviewer} {
			if text := a.read("status", m{"id": task, "history": true}); strings.Contains(text, secret) {
				t.Errorf("the history:\n%s", text)
			}
			for _, uri := range []string{"trapeze://task/" + task + "/history", "trapeze://envelope/" + task, "trapeze://task/" + task + "/drift"} {
				r, err := a.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
				raw, _ := json.Marshal(r) // what was read as JSON can be written as JSON
				if err != nil || strings.Contains(string(raw), secret) {
					t.Errorf("%s: %v %s", uri, err, raw)
				}
			}
		}
		if text := reviewer.read("accept", m{"handoff": sent["handoff"]}); strings.Contains(text, secret) || !strings.Contains(text, "forgotten") {
			t.Errorf("accepted again:\n%s", text)
		}
		_, next := reviewer.call("send", m{"task": task, "to": "late"})
		if text := late.read("accept", m{"handoff": next["handoff"]}); strings.Contains(text, secret) || !strings.Contains(text, "forgotten") {
			t.Errorf("a later agent:\n%s", text)
		}
	})
}
