package httpapi_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

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
