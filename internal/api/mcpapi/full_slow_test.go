//go:build slow

package mcpapi_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

func TestATaskWaitsForItsDependenciesAndFollowsItsRoute(t *testing.T) {
	h := open(t)
	coder, reviewer := h.full("coder"), h.full("reviewer")
	reviewer.call("join", m{})
	_, first := coder.call("send", m{"intent": "Write the parser"})
	_, second := coder.call("send", m{"intent": "Review the parser", "dependencies": first["task"], "to": "reviewer"})
	if second["state"] != "pending" {
		t.Errorf("it is %v", second)
	}
	coder.call("complete", m{"task": first["task"], "text": "done", "cost": 12})
	defer h.deliver()()
	if text, _ := reviewer.call("inbox", m{"wait": 45}); !strings.Contains(text, second["task"].(string)) {
		t.Errorf("the inbox says %s", text)
	}
	_, third := coder.call("send", m{"intent": "Document the parser", "route": "agent/reviewer"})
	if third["state"] != "handing_off" {
		t.Errorf("along its route: %v", third)
	}
	coder.refused("send", m{"intent": "Ship it", "dependencies": first["task"], "to": []any{"reviewer", "coder"}}, "one agent in to")
	coder.refused("send", m{"task": first["task"], "route": "reviewer", "to": "reviewer"}, "with intent")
	coder.refused("send", m{"intent": "Ship it", "retries": 2}, "name a receiver")
	coder.refused("send", m{"intent": "Ship it", "to": "reviewer", "lease": "soon"}, "write it as 45s")
	coder.refused("send", m{"intent": "Ship it", "to": "reviewer", "expires_at": "soon"}, "write it as 2026")
	coder.refused("send", m{"intent": "Ship it", "to": "reviewer", "steps": 5}, "give each step")
	h.agent(statelessVersion, "plain").refused("send", m{"intent": "Ship it", "to": "reviewer", "retries": 2}, `takes no "retries"`)
}

// Every tool that seals an envelope for an agent says how many tokens that reads.
func TestWhoGivesATaskAwayIsToldOverMCPHowManyTokensTheNextOwnerReads(t *testing.T) {
	h := open(t)
	coder, reviewer := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer")
	h.agent(statelessVersion, "lead").call("join", m{})
	reviewer.call("join", m{})
	if _, err := h.admin.RegisterAgent(t.Context(), "coder", client.AgentSpec{Escalation: []string{"lead"}}); err != nil {
		t.Fatal(err)
	}
	for name, give := range map[string]func(task any) m{
		"send": func(task any) m { _, r := coder.call("send", m{"task": task, "to": "reviewer"}); return r },
		"share": func(task any) m {
			_, r := coder.call("send", m{"task": task, "to": "reviewer", "share_only": true})
			return r
		},
		"delegation": func(task any) m {
			_, r := coder.call("send", m{"task": task, "to": "reviewer", "kind": "delegation"})
			return r
		},
		"escalate":             func(task any) m { _, r := coder.call("escalate", m{"task": task, "detail": "too hard"}); return r },
		"escalate to an agent": func(task any) m { _, r := coder.call("escalate", m{"task": task, "to": "reviewer"}); return r },
		"a takeover is granted": func(task any) m {
			coder.call("send", m{"task": task, "to": "reviewer", "share_only": true})
			reviewer.call("accept", m{"takeover": task, "detail": "I know it"})
			_, r := coder.call("decide", m{"id": task, "verdict": "approve"})
			return r
		},
	} {
		_, own := coder.call("send", m{"intent": "Write the parser"})
		sealed, _ := give(own["task"])["sealed"].(m)
		if tokens, _ := sealed["tokens"].(float64); tokens < 1 || sealed["version"] == nil || sealed["completeness"] != 1. {
			t.Errorf("%s: the model is told %v", name, sealed)
		}
	}
}
