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
