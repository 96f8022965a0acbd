package httpapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/usecase"
)

// before is a made-up major before ours, which called the task "job".
var before = envelope.Conversion{
	Older: 0,
	Up: func(doc map[string]any) ([]string, error) {
		doc["version"], doc["task"] = "1.0", doc["job"]
		delete(doc, "job")
		return nil, nil
	},
	Down: func(doc map[string]any) ([]string, error) {
		doc["version"], doc["job"] = "0.9", doc["task"]
		delete(doc, "task")
		return nil, nil
	},
}

// During a migration both majors are in use: readers get an envelope in the majors that they support, and a document of either
// one is imported.
func TestEnvelopesOfTwoMajorsAreReadAndImportedDuringAMigration(t *testing.T) {
	majors, err := envelope.NewConverter(before)
	if err != nil {
		t.Fatal(err)
	}
	h := openWith(t, httpapi.Options{}, usecase.Options{Majors: majors})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	r, err := ann.CreateTask(ctx, client.CreateInput{Intent: "move on", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ann.Content(ctx, r.Task, client.ContentInput{Majors: []int{0, 1}})
	if err != nil || len(got.Copies) != 2 || got.Copies[0].Major != 0 || got.Copies[0].Of != got.Digest ||
		!bytes.Contains(got.Copies[0].Envelope, []byte(`"job":{"intent":"move on"`)) || !bytes.Equal(got.Copies[1].Envelope, got.Envelope) {
		t.Fatalf("side by side: %+v, %v", got.Copies, err)
	}
	for name, wish := range map[string][]int{"unknown": {7}, "twice": {1, 1}} {
		_, err := ann.Content(ctx, r.Task, client.ContentInput{Majors: wish})
		if !errors.Is(err, client.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range got.Copies {
		in, err := ann.ImportTask(ctx, client.ImportInput{Document: c.Envelope, Start: true})
		if err != nil {
			t.Fatalf("major %d: %v", c.Major, err)
		}
		content, err := ann.Content(ctx, in.Task, client.ContentInput{Render: true})
		if err != nil || !strings.Contains(content.Prompt, "move on") {
			t.Errorf("major %d: %v\n%s", c.Major, err, content.Prompt)
		}
	}
	newer := json.RawMessage(strings.Replace(string(got.Envelope), `"version":"1.`, `"version":"7.`, 1))
	if _, err := ann.ImportTask(ctx, client.ImportInput{Document: newer, Start: true}); err == nil || !strings.Contains(err.Error(), "7.") {
		t.Errorf("a major that nobody knows: %v", err)
	}
}
