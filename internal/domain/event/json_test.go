package event

import (
	"encoding/json"
	"testing"
)

func TestDataIsRecordedWithoutInsignificantSpace(t *testing.T) {
	r := Result{Data: json.RawMessage("{ \"a\" : 1 }\n")}.Compact()
	if string(r.Data) != `{"a":1}` {
		t.Errorf("%s", r.Data)
	}
	if e := (Expected{}).Compact(); e.Schema != nil {
		t.Errorf("%q out of nothing", e.Schema)
	}
}
