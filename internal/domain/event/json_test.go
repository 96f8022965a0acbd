package event_test

import (
	"encoding/json"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

func TestDataIsRecordedWithoutInsignificantSpace(t *testing.T) {
	r := event.Result{Data: json.RawMessage("{ \"a\" : 1 }\n")}.Compact()
	if string(r.Data) != `{"a":1}` {
		t.Errorf("%s", r.Data)
	}
	if e := (event.Expected{}).Compact(); e.Schema != nil {
		t.Errorf("%q out of nothing", e.Schema)
	}
}
