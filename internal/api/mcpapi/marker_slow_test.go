//go:build slow

package mcpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
)

// handoffKinds are the ways to give a task to one receiver, with the fields that reach it.
var handoffKinds = []struct {
	name   string
	kind   client.Kind
	fanOut bool
	cold   bool // the description alone reaches the receiver
}{
	{name: "warm", kind: client.Warm},
	{name: "cold", kind: client.Cold, cold: true},
	{name: "supervised", kind: client.Supervised},
	{name: "broadcast", kind: client.Broadcast},
	{name: "fan-out", kind: client.Broadcast, fanOut: true},
	{name: "delegation", kind: client.Delegation},
}

// What a sender says, in any field, by any handoff, through the tool, the client or HTTP alone, is in the prompt that the receiver reads,
// through the client or the tool accept.
func TestEveryFieldOfTheContentReachesTheReceiver(t *testing.T) {
	for _, k := range handoffKinds {
		for _, by := range []string{"the tool", "the client", "HTTP"} {
			t.Run(k.name+" by "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := open(t)
					defer h.deliver()()
					token := h.token("reviewer")
					reviewer := h.as(token)
					marked := []string{"MARK-ask"}
					if !k.cold {
						marked = append(marked, "MARK-state", "MARK-fact", "MARK-decision", "MARK-question", "MARK-data")
					}
					if by != "the tool" {
						marked = append(marked, "MARK-notes")
						if !k.cold {
							marked = append(marked, "MARK-summary", "MARK-step")
						}
					}
					switch by {
					case "the tool":
						h.callMarked(k.kind, k.fanOut)
					case "the client":
						h.sendMarked(k.kind, k.fanOut)
					default:
						marked = append(marked, h.postMarked(k.kind, k.fanOut)...)
						if !k.cold {
							marked = append(marked, "MARK-file", "MARK-memory", "context stale after 2999-01-02", "confidence: 0.25")
						}
					}
					if k.kind == client.Supervised {
						h.approveAll()
					}
					items, err := reviewer.WaitInbox(t.Context(), client.InboxOptions{Wait: 10 * time.Second})
					if err != nil || len(items) != 1 {
						t.Fatalf("%+v, %v", items, err)
					}
					prompts := map[string]string{}
					got, err := reviewer.Accept(t.Context(), items[0].ID, client.AcceptInput{Render: true})
					if err != nil {
						t.Fatal(err)
					}
					prompts["the client"] = got.Content.Prompt
					// The answer to an acceptance that is repeated, since the first answer was lost.
					prompts["the tool"], _ = h.connect(statelessVersion, "reviewer", token, nil).call("accept", m{"handoff": items[0].ID})
					for by, prompt := range prompts {
						for _, m := range marked {
							if !strings.Contains(prompt, m) {
								t.Errorf("the prompt through %s lacks %s:\n%s", by, m, prompt)
							}
						}
					}
				})
			})
		}
	}
}

// callMarked sends a task with a marker in every field of the tool.
func (h *harness) callMarked(kind client.Kind, fanOut bool) {
	coder := h.agent(statelessVersion, "coder")
	_, own := coder.call("send", m{"intent": "Ship it"})
	coder.call("progress", m{"task": own["task"], "note": "looked at it"})
	args := m{
		"task": own["task"], "to": "reviewer", "kind": string(kind), "ask": "MARK-ask", "summary": "MARK-state", "facts": []any{"MARK-fact"},
		"decisions": []any{"MARK-decision"}, "questions": []any{"MARK-question"}, "data": m{"key": "MARK-data"}, "confidence": 0.5,
	}
	if fanOut {
		args["fan_out"] = true
	}
	coder.call("send", args)
}

// sendMarked does the same over HTTP, where there are more fields.
func (h *harness) sendMarked(kind client.Kind, fanOut bool) {
	coder, half := h.as(h.token("coder")), 0.5
	own, err := coder.CreateTask(h.t.Context(), client.CreateInput{Intent: "Ship it", Start: true})
	if err != nil {
		h.t.Fatal(err)
	}
	_, err = coder.Send(h.t.Context(), own.Task, client.SendInput{
		Epoch: own.Epoch, To: []string{"reviewer"}, Kind: kind, FanOut: fanOut, Reason: client.ReasonSpecialization, Content: client.Content{
			Ask: "MARK-ask", State: "MARK-state", Summary: "MARK-summary", Facts: []client.Point{{Text: "MARK-fact"}},
			Decisions: []client.Point{{Text: "MARK-decision"}}, Questions: []string{"MARK-question"}, Steps: []client.Step{{Action: "edit", Detail: "MARK-step"}},
			Data: json.RawMessage(`{"key":"MARK-data"}`), Confidence: &half, Notes: "MARK-notes",
		},
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// postMarked does the same in JSON, with every field that the API documents. It returns what else the receiver reads of them.
func (h *harness) postMarked(kind client.Kind, fanOut bool) (marked []string) {
	token := h.token("coder")
	coder := h.as(token)
	own, err := coder.CreateTask(h.t.Context(), client.CreateInput{Intent: "Ship it", Start: true})
	if err != nil {
		h.t.Fatal(err)
	}
	file, err := coder.PutArtifact(h.t.Context(), strings.NewReader("a file"), "")
	if err != nil {
		h.t.Fatal(err)
	}
	item, err := coder.Remember(h.t.Context(), client.RememberInput{Text: "MARK-memory", Scope: client.ScopeWorkspace})
	if err != nil {
		h.t.Fatal(err)
	}
	body := fmt.Sprintf(`{"epoch": %d, "to": ["reviewer"], "kind": %q, "fan_out": %t, "reason": "specialization", "content": {
		"ask": "MARK-ask", "current_state": "MARK-state", "conversation_summary": "MARK-summary", "key_facts": [{"text": "MARK-fact"}],
		"decisions": [{"text": "MARK-decision"}], "open_questions": ["MARK-question"],
		"steps": [{"action": "edit", "detail": "MARK-step"}], "data": {"key": "MARK-data"}, "confidence": 0.25,
		"notes": "MARK-notes", "expires_at": "2999-01-02T00:00:00Z", "memory": [{"id": %q}],
		"artifacts": [{"digest": %q, "name": "MARK-file.txt", "media_type": "text/plain"}]}}`, own.Epoch, kind, fanOut, item.ID, file.Digest)
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, "http://localhost/v1/tasks/"+own.Task+"/send", strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := bearer{token, inprocess.Transport(h.api)}.RoundTrip(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if answer, _ := io.ReadAll(res.Body); res.StatusCode >= http.StatusMultipleChoices {
		h.t.Fatalf("%d %s", res.StatusCode, answer)
	}
	if kind != client.Cold {
		marked = append(marked, file.Digest)
	}
	return marked
}

// approveAll approves what waits for an operator.
func (h *harness) approveAll() {
	box, err := h.admin.Inbox(h.t.Context(), client.InboxOptions{})
	if err != nil || len(box.Items) == 0 {
		h.t.Fatalf("%+v, %v", box, err)
	}
	for _, i := range box.Items {
		if _, err := h.admin.Approve(h.t.Context(), i.ID, client.ApproveInput{}); err != nil {
			h.t.Fatal(err)
		}
	}
}
