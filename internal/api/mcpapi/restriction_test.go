package mcpapi_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

func TestAReceiverReadsThatNothingIsAllowed(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		reviewer := h.agent(version, "reviewer")
		reviewer.call("join", m{})
		sender := h.as(h.token("sender"))
		rule := client.Constraint{ID: "lang", Kind: client.ConstraintFormat, Text: "languages", Allow: []string{}}
		if _, err := sender.CreateTask(t.Context(), client.CreateInput{
			Intent: "look at it", Permissions: []string{}, Constraints: []client.Constraint{rule}, Send: &client.SendInput{To: []string{"reviewer"}},
		}); err != nil {
			t.Fatal(err)
		}
		_, box := reviewer.call("inbox", m{"wait": 5})
		text, _ := reviewer.call("accept", m{"handoff": box["items"].([]any)[0].(m)["id"]})
		for _, want := range []string{"- Your permissions: none", "lang (format, should, only: nothing is allowed"} {
			if !strings.Contains(text, want) {
				t.Errorf("the context lacks %q: %s", want, text)
			}
		}
	})
}

func TestAReceiverReadsWhoSetWhat(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		reviewer, tester := h.agent(version, "reviewer"), h.agent(version, "tester")
		reviewer.call("join", m{})
		tester.call("join", m{})
		sender, most := h.as(h.token("sender")), 100.0
		rules := []client.Constraint{{ID: "lang", Kind: client.ConstraintFormat, Text: "Answer in German."}, {ID: "spend", Kind: client.ConstraintBudget, Text: "euros", Max: &most}}
		if _, err := sender.CreateTask(t.Context(), client.CreateInput{Intent: "look at it", Constraints: rules, Send: &client.SendInput{To: []string{"reviewer"}}}); err != nil {
			t.Fatal(err)
		}
		_, box := reviewer.call("inbox", m{"wait": 5})
		_, mine := reviewer.call("accept", m{"handoff": box["items"].([]any)[0].(m)["id"]})
		if text, _, refused := reviewer.try("send", m{"task": mine["task"], "to": []string{"tester"}, "constraints": []string{"Lang=format:English is fine."}}); !refused || !strings.Contains(text, "looks like") {
			t.Errorf("a look-alike: %s", text)
		}
		reviewer.call("send", m{"task": mine["task"], "to": []string{"tester"}, "constraints": []string{"short=format!:One page."}})
		_, box = tester.call("inbox", m{"wait": 5})
		text, _ := tester.call("accept", m{"handoff": box["items"].([]any)[0].(m)["id"]})
		want := "spend (budget, should, at most 100, agent/sender) euros\n"
		added := "short (format, agent/reviewer) One page.\n"
		if rule, own := strings.Index(text, want), strings.Index(text, added); rule < 0 || own < rule || !strings.Contains(text[rule:own], "# Added by agents") {
			t.Errorf("the context is\n%s", text)
		}
	})
}
