//go:build slow

package mcpapi_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

func TestACircuitThatIsOpenRefusesOverMCP(t *testing.T) {
	h := open(t)
	defer h.deliver()()
	coder, reviewer, olga := h.full("coder"), h.agent(statelessVersion, "reviewer"), h.operator("olga")
	reviewer.call("join", m{})
	spec := client.AgentSpec{Breaker: client.Breaker{Failures: 1, OpenFor: client.Duration(time.Hour)}}
	if _, err := h.admin.RegisterAgent(t.Context(), "reviewer", spec); err != nil {
		t.Fatal(err)
	}
	coder.call("send", m{"intent": "Review the parser", "to": "reviewer", "retries": 0, "ack_timeout": "5s"})
	reviewer.call("inbox", m{})
	enough := errors.New("enough")
	if err := h.admin.Events(t.Context(), 0, func(e client.Event) error {
		if slices.Contains(e.Events, "circuit-opened") {
			return enough
		}
		return nil
	}); !errors.Is(err, enough) {
		t.Fatal(err)
	}
	// It is seen before the call that opened it returns, and an answer made meanwhile may be of before. Once the agent is shown with it, it counts.
	if text, _ := coder.call("agent", m{"agent": "reviewer"}); !strings.Contains(text, "circuit open for handoffs of coder") {
		t.Errorf("reviewer is %s", text)
	}
	coder.refused("send", m{"intent": "Review the lexer", "to": "reviewer"}, "circuit")
	olga.call("agent", m{"agent": "reviewer", "action": "reset"})
	if _, again := coder.call("send", m{"intent": "Review the lexer", "to": "reviewer"}); again["state"] != "handing_off" {
		t.Errorf("after the reset: %v", again)
	}
}

func TestAModelSendsToACapabilityAndAnOverloadedAgentIsRelievedOverMCP(t *testing.T) {
	h := open(t)
	coder, olga := h.agent(statelessVersion, "coder"), h.operator("olga")
	first, second := h.agent(statelessVersion, "first", "parsing"), h.agent(statelessVersion, "second", "parsing")
	first.call("join", m{})
	second.call("join", m{"readiness": "draining"})
	send := func(priority string) (task string) {
		t.Helper()
		_, sent := coder.call("send", m{"intent": "Write the parser", "capability": "parsing", "priority": priority})
		return sent["task"].(string)
	}
	waits := func(a *agent, task string) bool {
		t.Helper()
		text, _ := a.call("inbox", m{})
		return strings.Contains(text, task)
	}
	one, two := send("urgent"), send("low")
	if !waits(first, one) || !waits(first, two) {
		t.Fatal("the only agent with the capability that takes tasks does not have them")
	}
	second.call("join", m{"readiness": "ready"})
	if text, _ := olga.call("agent", m{"agent": "first", "action": "shed", "keep": 1}); !strings.Contains(text, two) {
		t.Errorf("shed: %s", text)
	}
	if !waits(second, two) || waits(second, one) || waits(first, two) {
		t.Error("the peer does not have the offer that was moved, or another")
	}
}
