package mcpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/client"
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

// What a sender says, in any field, by any handoff, through the tool or the HTTP API, is in the prompt of the receiver.
func TestEveryFieldOfTheContentReachesTheReceiver(t *testing.T) {
	for _, k := range handoffKinds {
		for _, by := range []string{"the tool", "the API"} {
			t.Run(k.name+" by "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := open(t)
					defer h.deliver()()
					reviewer := h.as(h.token("reviewer"))
					marked := []string{"MARK-ask"}
					if !k.cold {
						marked = append(marked, "MARK-state", "MARK-fact", "MARK-decision", "MARK-question", "MARK-data")
					}
					if by == "the API" {
						marked = append(marked, "MARK-notes")
						if !k.cold {
							marked = append(marked, "MARK-summary", "MARK-step")
						}
						h.sendMarked(k.kind, k.fanOut)
					} else {
						h.callMarked(k.kind, k.fanOut)
					}
					if k.kind == client.Supervised {
						h.approveAll()
					}
					items, err := reviewer.WaitInbox(t.Context(), client.InboxOptions{Wait: 10 * time.Second})
					if err != nil || len(items) != 1 {
						t.Fatalf("%+v, %v", items, err)
					}
					got, err := reviewer.Accept(t.Context(), items[0].ID, client.AcceptInput{Render: true})
					if err != nil {
						t.Fatal(err)
					}
					for _, m := range marked {
						if !strings.Contains(got.Content.Prompt, m) {
							t.Errorf("the prompt lacks %s:\n%s", m, got.Content.Prompt)
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
