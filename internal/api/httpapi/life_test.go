package httpapi_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestATaskTravelsFromOneAgentToAnother(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	writer, _ := h.agent("writer")
	ctx := t.Context()

	sent, err := planner.CreateTask(ctx, client.CreateInput{
		Intent: "write the report", Content: client.Content{State: "outline is ready", Data: []byte(`{"chapters":3}`)},
		Send: &client.SendInput{To: []string{"writer"}},
	})
	if err != nil || sent.State != client.HandingOff || sent.Stage != client.StageOffered {
		t.Fatalf("%+v, %v", sent, err)
	}
	items, err := writer.WaitInbox(ctx, client.InboxOptions{Wait: 10 * time.Second})
	if err != nil || len(items) != 1 || items[0].ID != sent.Handoff || items[0].From != "planner" {
		t.Fatalf("%+v, %v", items, err)
	}
	got, err := writer.Accept(ctx, items[0].ID, client.AcceptInput{Offer: items[0].Offer, Render: true})
	if err != nil || got.Owner != "writer" || got.Content == nil || !strings.Contains(got.Content.Prompt, "outline is ready") {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := writer.Progress(ctx, sent.Task, client.ProgressInput{Epoch: got.Epoch, Note: "half done"}); err != nil {
		t.Fatal(err)
	}
	done, err := writer.Complete(ctx, sent.Task, client.CompleteInput{Epoch: got.Epoch, Result: client.Result{Text: "the report"}})
	if err != nil || done.State != client.Completed {
		t.Fatalf("%+v, %v", done, err)
	}
	task, err := planner.Task(ctx, sent.Task)
	if err != nil || task.Result == nil || task.Result.Text != "the report" || task.Handoff.Stage != client.StageTransferred {
		t.Fatalf("%+v, %v", task, err)
	}
	trail, err := planner.Trail(ctx, sent.Task)
	if err != nil || len(trail.Handoffs) != 1 || trail.Handoffs[0].Status != client.StageTransferred {
		t.Fatalf("%+v, %v", trail, err)
	}
	page, err := planner.Tasks(client.WithPosition(ctx, done.Position), client.TaskFilter{State: client.Completed})
	if err != nil || len(page.Tasks) != 1 || page.Position < done.Position {
		t.Fatalf("%+v, %v", page, err)
	}
	var lines strings.Builder
	if err := h.as(h.admin).Export(ctx, client.ExportOptions{Task: sent.Task}, &lines); err != nil || !strings.Contains(lines.String(), "half done") {
		t.Fatalf("%s, %v", lines.String(), err)
	}
	if _, err := writer.Complete(ctx, sent.Task, client.CompleteInput{Epoch: got.Epoch}); !errors.Is(err, client.Conflict) {
		t.Errorf("completing it again: %v", err)
	}
}

func TestALongPollWakesWhenSomethingComes(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	writer, _ := h.agent("writer")
	type look struct {
		items []client.Item
		err   error
	}
	came := make(chan look)
	go func() {
		items, err := writer.WaitInbox(t.Context(), client.InboxOptions{Wait: 50 * time.Second})
		came <- look{items, err}
	}()
	if _, err := planner.CreateTask(t.Context(), client.CreateInput{Intent: "x", Send: &client.SendInput{To: []string{"writer"}}}); err != nil {
		t.Fatal(err)
	}
	if l := <-came; l.err != nil || len(l.items) != 1 {
		t.Fatalf("%+v", l)
	}
}

func TestALongPollEndsWithItsClient(t *testing.T) {
	h := open(t, httpapi.Options{})
	writer, _ := h.agent("writer")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := writer.WaitInbox(ctx, client.InboxOptions{Wait: 50 * time.Second})
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	h.Close() // waits for every call under way
}

func TestAnEnvelopeOfAnUnknownMajorIsRefusedWithThoseThatAreKnown(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, token := h.agent("planner")
	p := h.call(token, "POST /v1/tasks/import", `{"document":{"version":"4.1","handoff":{},"x":1},"start":true}`).problem(t)
	if p.Code != refusal.Invalid || !strings.Contains(p.Detail, "this server reads 1") || !strings.Contains(p.Hint, "use major 1") {
		t.Errorf("%+v", p)
	}
	made, err := planner.ImportTask(t.Context(), client.ImportInput{
		Document: []byte(`{"version":"1.9","season":"autumn","handoff":{"task_id":"t","from":"else"},"task":{"intent":"rake the leaves"}}`), Start: true,
	})
	if err != nil || made.Format != "envelope" || made.Owner != "planner" {
		t.Fatalf("%+v, %v", made, err)
	}
	sheet, err := planner.Content(t.Context(), made.Task, client.ContentInput{})
	if err != nil || !strings.Contains(string(sheet.Envelope), `"season":"autumn"`) {
		t.Errorf("%s, %v", sheet.Envelope, err)
	}
}
