package memories_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

func TestAGapTooManyIsCounted(t *testing.T) {
	h := open(t)
	taskID := h.task(1, "ann", owned("ann"))
	x := h.remember(agent("ann"), memories.RememberInput{Text: "x"})
	doc := envelope.Envelope{
		Version: "1.1", Handoff: envelope.Header{TaskID: taskID, From: "ann"}, Task: envelope.Task{Intent: "y"}, Memory: []envelope.MemoryRef{{ID: x.ID, Text: "x"}},
	}
	for n := range envelope.MaxGaps {
		doc.Gaps = append(doc.Gaps, envelope.Gap{Kind: envelope.PartMemory, ID: fmt.Sprint("m", n), Reason: envelope.GapNotFound})
	}
	s, err := envelope.Seal(doc, make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	must[memories.Item](t)(h.items.Forget(t.Context(), agent("ann"), x.ID))
	b, err := h.store.Redact(t.Context(), home, s.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := envelope.Open(b)
	want := []envelope.Dropped{{Kind: envelope.DroppedGaps, Count: 1, Task: taskID}}
	if err != nil || len(got.Gaps) != envelope.MaxGaps || got.Gaps[len(got.Gaps)-1].ID != x.ID || !reflect.DeepEqual(got.Dropped, want) {
		t.Errorf("%v: %d gaps, dropped %+v", err, len(got.Gaps), got.Dropped)
	}
}
