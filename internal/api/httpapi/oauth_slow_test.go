//go:build slow

package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/oauth/oauthtest"
)

func TestATokenThatMayOnlyLookChangesNothing(t *testing.T) {
	h, i := trusting(t, onTime)
	h.agent("writer")
	planner, _ := h.agent("planner")
	sent, err := planner.CreateTask(t.Context(), client.CreateInput{Intent: "x", Send: &client.SendInput{To: []string{"writer"}}})
	if err != nil {
		t.Fatal(err)
	}
	token := i.Token("writer", resource, oauthtest.Claims{"scope": "openid trapeze:read"})
	for line, body := range map[string]string{
		"POST /v1/tasks": `{"intent":"x"}`,
		"POST /v1/handoffs/" + sent.Handoff + "/accept": "",
		"POST /v1/memory":                 `{"text":"x","scope":"private"}`,
		"POST /v1/presence":               "",
		"PUT /v1/agents/writer/readiness": `{"readiness":"offline"}`,
		"POST /v1/channels":               `{"name":"news"}`,
	} {
		r := h.call(token, line, body)
		want := `Bearer realm="trapeze", error="insufficient_scope", scope="trapeze:act", ` + metadata
		if got := r.header.Get("WWW-Authenticate"); r.status != http.StatusForbidden || got != want || r.problem(t).Details["scope"] != "trapeze:act" {
			t.Errorf("%s: %v", line, r)
		}
	}
	for range 2 { // an offer that is looked at is not seen
		var box client.Inbox
		r := h.call(token, "GET /v1/inbox", "")
		if err := json.Unmarshal([]byte(r.body), &box); err != nil || len(box.Items) != 1 || box.Items[0].Seen {
			t.Fatal(r)
		}
	}
	before := changes(h)
	for line := range operations(t, h) {
		if strings.HasPrefix(line, "GET /v1/events") {
			continue // has no end
		}
		for _, body := range []string{"", "{}", `{"text":"x","scope":"workspace"}`, `{"intent":"x"}`, `{"name":"x"}`} {
			h.call(token, strings.Replace(line, "/handoffs/x", "/handoffs/"+sent.Handoff, 1), body)
			h.call(token, strings.NewReplacer("/tasks/x", "/tasks/"+sent.Task, "/agents/x", "/agents/writer").Replace(line), body)
		}
	}
	if after := changes(h); after != before {
		t.Errorf("something changed:\n%s", strings.TrimPrefix(after, before))
	}
	none := h.call(i.Token("writer", resource, oauthtest.Claims{"scope": "openid"}), "GET /v1/me", "")
	if got := none.header.Get("WWW-Authenticate"); none.status != http.StatusForbidden || !strings.Contains(got, `error="insufficient_scope", scope="trapeze:read"`) {
		t.Errorf("no scope: %v", none)
	}
	act := i.Token("writer", resource, oauthtest.Claims{"scope": "trapeze:act"})
	if r := h.call(act, "GET /v1/inbox", ""); r.status != http.StatusOK {
		t.Errorf("a token that may act may also read: %v", r)
	}
}
