package httpapi_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"slices"
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

// An offer is previewed by its receiver alone, who does not accept it by that.
func TestAnOfferIsPreviewedOverHTTP(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	writer, _ := h.agent("writer")
	editor, _ := h.agent("editor")
	ctx := t.Context()
	sent, err := planner.CreateTask(ctx, client.CreateInput{Intent: "write the report", Send: &client.SendInput{To: []string{"writer"}}})
	if err != nil {
		t.Fatal(err)
	}
	seen, err := writer.Content(ctx, sent.Handoff, client.ContentInput{Render: true})
	if err != nil || !strings.Contains(seen.Prompt, "write the report") {
		t.Errorf("the preview: %q, %v", seen.Prompt, err)
	}
	if task, err := planner.Task(ctx, sent.Task); err != nil || task.Owner != "" || task.State != client.HandingOff {
		t.Errorf("after it: %+v, %v", task, err)
	}
	if _, err := editor.Content(ctx, sent.Handoff, client.ContentInput{Render: true}); !errors.Is(err, client.NotFound) {
		t.Errorf("the preview of another: %v", err)
	}
	got, err := writer.Accept(ctx, sent.Handoff, client.AcceptInput{Render: true})
	if err != nil || got.Content.Prompt != seen.Prompt {
		t.Errorf("what was accepted is not what was previewed: %v", err)
	}
}

// The audit document of a handoff has the fields and the four messages, and each of them is in the exports.
func TestTheAuditDocumentHasTheFourMessagesInEveryFormat(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, token := h.agent("planner")
	writer, _ := h.agent("writer")
	ctx := t.Context()
	sent, err := planner.CreateTask(ctx, client.CreateInput{Intent: "write the report", Send: &client.SendInput{To: []string{"writer"}, Reason: client.ReasonSpecialization}})
	if err == nil {
		_, err = writer.Accept(ctx, sent.Handoff, client.AcceptInput{})
	}
	if err != nil {
		t.Fatal(err)
	}
	var trail struct{ Handoffs []map[string]any }
	if r := h.call(token, "GET /v1/tasks/"+sent.Task+"/trail", ""); json.Unmarshal([]byte(r.body), &trail) != nil || len(trail.Handoffs) != 1 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	doc := trail.Handoffs[0]
	for name, want := range map[string]string{"handoff_id": sent.Handoff, "from_agent": "planner", "to_agent": "writer", "reason": "specialization", "status": "transferred"} {
		if doc[name] != want {
			t.Errorf("%s is %v, not %s", name, doc[name], want)
		}
	}
	messages := []string{"handoff-request", "handoff-acknowledgment", "handoff-confirm", "handoff-complete"}
	var events []string
	for _, e := range doc["audit_entries"].([]any) {
		e := e.(map[string]any)
		events = append(events, e["event"].(string))
		for _, name := range []string{"timestamp", "agent", "details"} {
			if e[name] == nil || e[name] == "" {
				t.Errorf("the entry %v has no %s", e["event"], name)
			}
		}
	}
	var lines, rows bytes.Buffer
	if err := errors.Join(planner.Export(ctx, client.ExportOptions{Task: sent.Task}, &lines), planner.Export(ctx, client.ExportOptions{Task: sent.Task, Format: "csv"}, &rows)); err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(&rows).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		inTable := slices.ContainsFunc(table, func(row []string) bool { return slices.Contains(row, m) && slices.Contains(row, sent.Handoff) })
		if !slices.Contains(events, m) || !strings.Contains(lines.String(), `"event":"`+m+`"`) || !inTable {
			t.Errorf("%s is missing: in the document %q, in lines %v, in CSV %v", m, events, strings.Contains(lines.String(), m), inTable)
		}
	}
}
