//go:build slow

package mcpapi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// An agent that answers an offer too late is told who took the task away, and why; one that never had the offer is not.
func TestALateAnswerToAnOfferIsToldWhoTookTheTaskAway(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder, reviewer, helper, other := h.agent(version, "coder"), h.agent(version, "reviewer"), h.agent(version, "helper"), h.agent(version, "other")
		for name, c := range map[string]struct {
			take func(task, handoff string) error
			says string
		}{
			"cancelled": {func(task, _ string) error {
				_, _, refused := coder.try("cancel", m{"id": task, "why": "shipped\nalready"})
				if refused {
					return errors.New("refused")
				}
				return nil
			}, "is cancelled; coder cancelled it: shipped already"},
			"cancelled by an operator": {func(task, _ string) error {
				_, err := h.admin.Cancel(t.Context(), task, client.CancelInput{Detail: "not needed"})
				return err
			}, "is cancelled; admin/local cancelled it: not needed"},
			"withdrawn": {func(_, handoff string) error {
				_, err := h.admin.Withdraw(t.Context(), handoff, client.CancelInput{Detail: "wrong reviewer"})
				return err
			}, "is over: the handoff is cancelled: withdrawn by admin/local: wrong reviewer"},
			"given to another": {func(task, handoff string) error {
				if _, err := h.admin.Withdraw(t.Context(), handoff, client.CancelInput{}); err != nil {
					return err
				}
				r, err := h.admin.Send(t.Context(), task, client.SendInput{To: []string{"helper"}, Detail: "helper is idle"})
				if err == nil {
					helper.call("accept", m{"handoff": r.Handoff})
				}
				return err
			}, "admin/local has given the task to helper: helper is idle"},
		} {
			_, made := coder.call("send", m{"intent": "Review the parser"})
			_, sent := coder.call("send", m{"task": made["task"], "to": "reviewer"})
			if err := c.take(sent["task"].(string), sent["handoff"].(string)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, tool := range []string{"accept", "reject"} {
				args := m{"handoff": sent["handoff"]}
				if tool == "reject" {
					args["reason"] = "overloaded"
				}
				if text, _, refused := reviewer.try(tool, args); !refused || !strings.Contains(text, c.says) || !strings.Contains(text, "inbox") {
					t.Errorf("%s: a late %s: %s", name, tool, text)
				}
				if text, _, refused := other.try(tool, args); !refused || !strings.Contains(text, "not_found") {
					t.Errorf("%s: the %s of an agent that never had the offer: %s", name, tool, text)
				}
			}
		}
	})
}
