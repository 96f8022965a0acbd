//go:build slow

package mcpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/trapezehq/trapeze/client"
)

// A delegate with a small window is told whose part it does and what for, however much else there is; so is an agent to which it hands the part on.
// A task that is created and delegated in one call is from its creator, by its name.
func TestADelegateUnderTokenPressureReadsWhatItsPartIsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		defer h.deliver()()
		coder, reviewer := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer")
		small := func(name string) {
			if _, err := h.admin.RegisterAgent(t.Context(), name, client.AgentSpec{ContextWindow: 1000}); err != nil {
				t.Fatal(err)
			}
		}
		small("reviewer")
		tester := h.agent(statelessVersion, "tester")
		small("tester")
		facts := []any{}
		for i := range 200 {
			facts = append(facts, fmt.Sprintf("Fact %d is of no use for the review, and long enough to take a place in a small window.", i))
		}
		for _, kind := range []m{{"kind": "delegation"}, {"kind": "broadcast", "fan_out": true}} {
			for _, owned := range []bool{true, false} {
				args := m{"to": "reviewer", "ask": "Review the parser.", "facts": facts, "summary": strings.Repeat("Much has been done. ", 200)}
				if owned {
					_, task := coder.call("send", m{"intent": "Ship release 7 of the compiler"})
					args["task"] = task["task"]
				} else {
					args["intent"] = "Ship release 7 of the compiler"
				}
				for k, v := range kind {
					args[k] = v
				}
				_, sent := coder.call("send", args)
				for _, reader := range []*agent{reviewer, tester} {
					box := reader.waitFor("offer")
					text, _ := reader.call("accept", m{"handoff": box["id"]})
					for _, want := range []string{fmt.Sprintf("- Part of task %#q (`Ship release 7 of the compiler`): your result goes to its owner, `coder`\n", sent["task"]), "Review the parser."} {
						if !strings.Contains(text, want) {
							t.Errorf("%v, owned %t: %s does not read %q:\n%s", kind, owned, reader.name, want, text)
						}
					}
					if strings.Contains(text, "agent/") || strings.Contains(text, "Much has been done") {
						t.Errorf("%v, owned %t: %s reads\n%s", kind, owned, reader.name, text)
					}
					if reader == reviewer {
						reviewer.call("send", m{"task": box["task"], "to": "tester"})
					} else {
						tester.call("complete", m{"task": box["task"], "text": "Reviewed."})
					}
				}
			}
		}
	})
}
