//go:build slow || outside

package pglog

import (
	"errors"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

func TestAnEntryIsTakenAsItWasAppendedOnlyWhereTheSameBytesAreRead(t *testing.T) {
	var nobody *own
	if _, ok := nobody.take(&row{position: 7}); ok {
		t.Error("nobody has appended one")
	}
	stored := row{position: 7, stream: "w/task/1", previous: 3, frame: []byte("frame")}
	for name, test := range map[string]struct {
		change func(*row)
		want   bool
	}{
		"the same":          {func(*row) {}, true},
		"another position":  {func(r *row) { r.position = 8 }, false},
		"another stream":    {func(r *row) { r.stream = "w/task/2" }, false},
		"after another one": {func(r *row) { r.previous = 4 }, false},
		"other bytes":       {func(r *row) { r.frame = []byte("Frame") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := &request{entry: ledger.Entry{Stream: "w/task/1", Events: make([]ledger.Event, 2)}, frame: []byte("frame"), position: 7, previous: 3}
			var o own
			o.add([]*request{r, {position: 8, err: errors.New("refused")}})
			read := stored
			test.change(&read)
			e, ok := o.take(&read)
			if ok != test.want || ok && (e.Position != 7 || len(e.Events) != 2 || &e.Events[0] == &r.entry.Events[0]) {
				t.Errorf("%v, %v", e, ok)
			}
			if _, ok := o.take(&stored); ok && test.want {
				t.Error("it is taken twice")
			}
		})
	}
}

func TestWhatIsNeverReadIsForgotten(t *testing.T) {
	var o own
	for at := range ledger.Position(3 * maxOwn) {
		o.add([]*request{{position: at + 1}})
	}
	if len(o.requests) > maxOwn+1 {
		t.Errorf("%d entries are kept", len(o.requests))
	}
}
