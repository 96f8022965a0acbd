package httpapi_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// parts are the fields that every document of a handoff has.
var parts = []string{
	"id", "task", "from", "to", "reason", "detail", "kind", "stage", "receiver", "envelope", "task_context", "audit_entries", "timeout_seconds", "priority", "permissions",
	"dependencies", "candidates", "requested", "ended",
}

func TestTheDocumentOfAHandoffHasAllItsPartsAlsoWhenItIsPast(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	writer, writerToken := h.agent("writer")
	editor, _ := h.agent("editor")
	ctx := t.Context()
	before, err := planner.CreateTask(ctx, client.CreateInput{Intent: "plan it", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := planner.Complete(ctx, before.Task, client.CompleteInput{Epoch: before.Epoch, Result: client.Result{Text: "planned"}}); err != nil {
		t.Fatal(err)
	}
	sent, err := planner.CreateTask(ctx, client.CreateInput{
		Intent: "write the report", Priority: "high", Permissions: []string{"repo:read", "repo:write"}, Dependencies: []string{before.Task},
		Send: &client.SendInput{To: []string{"writer"}, Detail: "you write best", Permissions: []string{"repo:read"}, Content: client.Content{Data: []byte(`{"chapters":3}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := writer.Accept(ctx, sent.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Send(ctx, sent.Task, client.SendInput{Epoch: got.Epoch, To: []string{"editor"}, Detail: "read it"}); err != nil {
		t.Fatal(err)
	}
	if _, err := editor.Accept(ctx, sent.Task+".h2", client.AcceptInput{}); err != nil {
		t.Fatal(err)
	}

	var doc map[string]any
	r := h.call(writerToken, "GET /v1/handoffs/"+sent.Handoff+"/document", "")
	if err := json.Unmarshal([]byte(r.body), &doc); err != nil || r.status != 200 {
		t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	for _, name := range parts {
		if v, ok := doc[name]; !ok || v == nil || v == "" {
			t.Errorf("the document of a past handoff has no %s: %s", name, r.body)
		}
	}
	first, err := planner.HandoffDocument(ctx, sent.Handoff)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range first.Entries {
		names = append(names, e.Event)
	}
	want := []string{"handoff-request", "handoff-offered", "handoff-acknowledgment", "handoff-confirm", "handoff-complete"}
	if !slices.Equal(names, want) || first.Receiver != "writer" || first.Stage != client.StageTransferred || first.Timeout != 15 || first.Priority != "high" ||
		!slices.Equal(first.Permissions, []string{"repo:read"}) || !slices.Equal(first.Dependencies, []string{before.Task}) || !strings.Contains(string(first.Context), `"chapters":3`) {
		t.Errorf("the first handoff is %+v", first)
	}
	second, err := planner.HandoffDocument(ctx, sent.Task+".h2")
	if err != nil || second.Receiver != "editor" || second.Detail != "read it" || second.ID != sent.Task+".h2" || len(second.Entries) != len(want) {
		t.Errorf("the second is %+v, %v", second, err)
	}
	past, err := editor.Handoff(ctx, sent.Handoff)
	if err != nil || past.Kind != client.Warm || past.Detail == "" || past.Ended.IsZero() {
		t.Errorf("a past handoff is shown as %+v, %v", past, err)
	}
	for _, id := range []string{sent.Task + ".h3", "task_00000000000000000000000000.h1"} {
		if _, err := planner.HandoffDocument(ctx, id); !errors.Is(err, client.NotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if trail := h.reads("agent:planner"); !strings.Contains(trail, "handoff "+sent.Handoff) {
		t.Errorf("the read is not recorded: %s", trail)
	}
}

func TestADelegationHasAnAuditDocumentOnTheParent(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	h.agent("writer")
	ctx := t.Context()
	own, err := planner.CreateTask(ctx, client.CreateInput{Intent: "write the book", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := planner.Send(ctx, own.Task, client.SendInput{Epoch: own.Epoch, To: []string{"writer"}, Kind: client.Delegation, Content: client.Content{Ask: "write chapter 1"}})
	if err != nil || len(parts.Children) != 1 {
		t.Fatalf("%+v, %v", parts, err)
	}
	child := parts.Children[0]
	trail, err := planner.Trail(ctx, own.Task)
	if err != nil || len(trail.Handoffs) != 1 {
		t.Fatalf("%+v, %v", trail.Handoffs, err)
	}
	if d := trail.Handoffs[0]; d.HandoffID != child+".h1" || d.Task != child || d.From != "planner" || d.To != "writer" || d.Reason != client.ReasonUserRequest || d.Status != client.StageRequested ||
		len(d.Entries) != 1 || d.Entries[0].Event != "children-spawned" {
		t.Errorf("the delegation: %+v", d)
	}
}

// reads is what was recorded of the reads of a principal, as JSON.
func (h *harness) reads(principal string) string {
	h.t.Helper()
	var b strings.Builder
	if err := h.as(h.admin).Export(h.t.Context(), client.ExportOptions{}, &b); err != nil {
		h.t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, principal) && strings.Contains(line, "content-read") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
