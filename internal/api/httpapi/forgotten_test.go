package httpapi_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// forgets is a task whose envelopes hold a memory item that was forgotten since. Its owner is "coder".
func forgets(t *testing.T, h *harness, lead, coder *client.Client, secret string) (task, item, share string) {
	t.Helper()
	ctx := t.Context()
	if _, err := h.as(h.admin).RegisterAgent(ctx, "late", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	x, err := lead.Remember(ctx, client.RememberInput{Title: "title " + secret, Text: "it is " + secret, Scope: client.ScopeWorkspace})
	if err != nil {
		t.Fatal(err)
	}
	content := client.Content{Memory: []client.MemoryAsk{{ID: x.ID}}}
	r, err := lead.CreateTask(ctx, client.CreateInput{Intent: "fix the login", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	shared, err := lead.Share(ctx, r.Task, client.ShareInput{Epoch: r.Epoch, To: "late", Content: content})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := lead.Send(ctx, r.Task, client.SendInput{Epoch: r.Epoch, To: []string{"coder"}, Content: content})
	if err != nil {
		t.Fatal(err)
	}
	got, err := coder.Accept(ctx, sent.Handoff, client.AcceptInput{Offer: sent.Offer, Render: true})
	if err != nil || !strings.Contains(got.Content.Prompt, secret) {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := lead.Forget(ctx, x.ID); err != nil {
		t.Fatal(err)
	}
	return r.Task, x.ID, shared.Share
}

func TestWhatWasForgottenIsExportedToOperatorsThatAskForIt(t *testing.T) {
	const secret = "swordfish"
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	lead, _ := h.agent("lead")
	coder, _ := h.agent("coder")
	task, _, _ := forgets(t, h, lead, coder, secret)
	admin := h.as(h.admin)
	for _, o := range []client.ExportOptions{{Task: task}, {Task: task, Format: "csv"}, {Task: task, Format: "json"}, {}, {Format: "csv"}} {
		for _, asked := range []bool{false, true} {
			o.Forgotten = asked
			var out bytes.Buffer
			if err := admin.Export(ctx, o, &out); err != nil || strings.Contains(out.String(), secret) != asked {
				t.Errorf("%+v: %v %s", o, err, out.String())
			}
		}
	}
	for name, c := range map[string]*client.Client{"the requester": lead, "the owner": coder} {
		if err := c.Export(ctx, client.ExportOptions{Task: task, Forgotten: true}, &bytes.Buffer{}); !errors.Is(err, client.NotPermitted) {
			t.Errorf("%s may export what was forgotten: %v", name, err)
		}
	}
	if r := h.call(h.admin, "GET /v1/audit/export?forgotten=perhaps", ""); r.problem(t).Code != "invalid" {
		t.Errorf("perhaps: %+v", r)
	}
}
