//go:build slow

package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// What goes along besides the five parts reaches the receiver, in the envelope and where it is told: confidence, times, priority and the number of hops.
func TestAReceiverGetsConfidenceTimesPriorityAndHops(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	writer, _ := h.agent("writer")
	editor, _ := h.agent("editor")
	ctx := t.Context()
	sure, expires := 0.7, time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	sent, err := planner.CreateTask(ctx, client.CreateInput{
		Intent: "write the report", Priority: "high", Send: &client.SendInput{To: []string{"writer"}},
		Content: client.Content{
			Summary: "we met on Monday", Facts: []client.Point{{Text: "it has three chapters"}}, Decisions: []client.Point{{Text: "no pictures"}}, Questions: []string{"who reads it?"},
			Data: []byte(`{"pages":12}`), Confidence: &sure, ExpiresAt: expires,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	type envelope struct {
		Summary    string    `json:"conversation_summary"`
		Confidence *float64  `json:"confidence"`
		Created    time.Time `json:"created_at"`
		Expires    time.Time `json:"expires_at"`
		Priority   string    `json:"priority"`
		Hops       int       `json:"hops"`
	}
	read := func(c *client.Client, handoff string) (got client.Accepted, doc envelope) {
		t.Helper()
		got, err := c.Accept(ctx, handoff, client.AcceptInput{Render: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got.Content.Envelope, &doc); err != nil {
			t.Fatal(err)
		}
		return got, doc
	}
	got, first := read(writer, sent.Handoff)
	if first.Summary != "we met on Monday" || first.Confidence == nil || *first.Confidence != sure || !first.Expires.Equal(expires) || first.Created.IsZero() || first.Priority != "high" {
		t.Errorf("the envelope: %s", got.Content.Envelope)
	}
	for _, want := range []string{"we met on Monday", "it has three chapters", "no pictures", "who reads it?", `"pages"`} {
		if !strings.Contains(got.Content.Prompt, want) {
			t.Errorf("the prompt lacks %q: %s", want, got.Content.Prompt)
		}
	}
	on, err := writer.Send(ctx, sent.Task, client.SendInput{Epoch: got.Epoch, To: []string{"editor"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, second := read(editor, on.Handoff); second.Hops != first.Hops+1 || second.Priority != "high" {
		t.Errorf("after %d hops: %s", first.Hops, got.Content.Envelope)
	}
}
