package ledgertest

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Frozen checks that events are encoded as testdata/events.jsonl has them, a line per example, and decoded to the same values.
// all holds one of each event; examples has one of each too, with something in every field. With update the file is written:
// only for events that were never released.
func Frozen[E interface{ EventName() string }](t *testing.T, update bool, all, examples []E) {
	t.Helper()
	const file = "testdata/events.jsonl"
	codec := ledger.NewCodec(all...)
	coded, err := codec.EncodeAll(examples)
	if err != nil {
		t.Fatal(err)
	}
	if len(coded) != len(all) {
		t.Errorf("%d examples of %d events", len(coded), len(all))
	}
	var now bytes.Buffer
	for i, e := range coded {
		fmt.Fprintf(&now, "%s %d %s\n", e.Name, e.Version, e.Data)
		back, err := codec.Decode(ledger.Event{Name: e.Name, Version: e.Version, Data: e.Data})
		if err != nil || !reflect.DeepEqual(back, examples[i]) {
			t.Errorf("%s is decoded to %+v, %v", e.Name, back, err)
		}
	}
	if update {
		if err := os.WriteFile(file, now.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if frozen, err := os.ReadFile(file); err != nil || !bytes.Equal(frozen, now.Bytes()) {
		t.Errorf("events are not encoded as %s has them (%v):\n%s", file, err, now.Bytes())
	}
}
