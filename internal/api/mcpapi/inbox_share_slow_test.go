//go:build slow

package mcpapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

// Of agents that wait over MCP each is shown its share of the claims, and what it accepts is its own.
func TestAnAgentThatWaitsIsShownItsShareOfTheClaimsAndAccepts(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		ann, bob, eve := h.agent(version, "ann"), h.agent(version, "bob"), h.agent(version, "eve")
		for _, intent := range []string{"dig", "fill", "pave"} {
			if _, err := h.as(h.token("lead-"+intent)).CreateTask(t.Context(), client.CreateInput{Intent: intent, Send: &client.SendInput{Kind: client.Broadcast, To: []string{"ann", "bob"}}}); err != nil {
				t.Fatal(err)
			}
		}
		waiting, leave := context.WithCancel(t.Context())
		defer leave()
		go func() {
			_, _ = eve.CallTool(waiting, &mcp.CallToolParams{Name: "inbox", Arguments: m{"wait": 45}})
		}()
		var text string
		var box m
		for range 10_000 {
			if text, box = ann.call("inbox", m{"wait": 45}); !strings.Contains(text, "pave") { // eve waits
				break
			}
		}
		items := box["items"].([]any)
		if len(items) != 2 || !strings.Contains(text, "dig") || !strings.Contains(text, "fill") {
			t.Fatalf("of three claims one of two that wait is shown\n%s", text)
		}
		if text, _ = ann.call("inbox", m{"wait": 45, "after": box["cursor"]}); !strings.Contains(text, "pave") {
			t.Errorf("after those come\n%s", text)
		}
		first := items[0].(m)["id"]
		if text, _ = ann.call("accept", m{"handoff": first}); !strings.Contains(text, "dig") {
			t.Errorf("she accepts\n%s", text)
		}
		_, box = bob.call("inbox", m{"wait": 45})
		if items = box["items"].([]any); len(items) == 0 || items[0].(m)["id"] == first {
			t.Errorf("then the other is shown %v", items)
		}
		bob.call("accept", m{"handoff": items[0].(m)["id"]})
		bob.refused("accept", m{"handoff": first}, "ann")
	})
}
