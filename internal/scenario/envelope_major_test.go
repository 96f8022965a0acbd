package scenario

import (
	"bytes"
	"testing"

	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
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

func TestAReaderGetsAnEnvelopeInTheMajorsThatItKnows(t *testing.T) {
	h := open(t, "sqlite")
	defer h.stop()
	majors, err := envelope.NewConverter(before)
	if err != nil {
		t.Fatal(err)
	}
	if h.app, err = usecase.New(h.ledger, h.views.Store(), usecase.Options{Now: h.now, Majors: majors}); err != nil {
		t.Fatal(err)
	}
	h.join("ann")
	r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "move on", Start: true})
	got := h.content(h.agent("ann"), envelopes.ContentInput{ID: r.Task, Majors: []int{0, 1}})
	if len(got.Copies) != 2 || got.Copies[0].Of != got.Digest || !bytes.Contains(got.Copies[0].Envelope, []byte(`"job":{"intent":"move on"`)) ||
		!bytes.Equal(got.Copies[1].Envelope, got.Envelope) {
		t.Errorf("side by side: %+v", got.Copies)
	}
	for name, wish := range map[string][]int{"unknown": {7}, "twice": {1, 1}} {
		_, err := h.app.Envelopes.Fetch(ctx(h), h.agent("ann"), envelopes.ContentInput{ID: r.Task, Majors: wish})
		if refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
