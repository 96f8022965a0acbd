package ledger_test

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// notInOnePass are the events with a field that encoding/json has to read and write, and why.
var notInOnePass = map[string]string{
	"alert-raised":    "the conditions of an alert are embedded, and few are raised",
	"alert-recovered": "the same",
	"record-exported": "the root of the tree reads its own JSON, and exports are rare",
}

// TestEveryEventIsReadAndWrittenInOnePassAsByEncodingJSON has each event with nothing in its fields, with something in all of them, and with two of all that is a list.
func TestEveryEventIsReadAndWrittenInOnePassAsByEncodingJSON(t *testing.T) {
	all := slices.Concat(named(event.Events), named(agent.Events), named(identity.Events), named(memory.Events), named(conversation.Events), named(channel.Events), named(workspace.Events),
		named(artifact.Events), named(policy.Events), named(alert.Events), named(erasure.Events), named(proof.KeyEvents), named(proof.SegmentEvents), []ledger.Named{
			event.Sealed{}, access.ContentRead{}, access.Exported{}, access.Refused{}, access.Vouched{}, access.Restored{}, access.NodeOrdered{}, access.WorkspaceReceived{},
		})
	slow := map[string]bool{}
	for _, e := range all {
		typ := reflect.TypeOf(e)
		codec := ledger.NewCodec(e)
		for lists := range 3 {
			v := reflect.New(typ).Elem()
			if lists > 0 {
				fill(t, v, lists)
			}
			written, _ := v.Interface().(ledger.Named)
			coded, err := codec.Encode(written)
			if err != nil {
				t.Fatal(err)
			}
			if asWritten := inJSON(t, written); string(coded.Data) != asWritten {
				t.Errorf("%s is written as %s; encoding/json writes %s", e.EventName(), coded.Data, asWritten)
			}
			if _, ok := ledger.WriteInOnePass(written); !ok {
				slow[e.EventName()] = true
				if notInOnePass[e.EventName()] == "" {
					t.Errorf("%s is not written in one pass: %s", e.EventName(), coded.Data)
				}
			}
			want := reflect.New(typ)
			if err := json.Unmarshal(coded.Data, want.Interface()); err != nil && lists > 0 {
				t.Fatalf("%s: %v", coded.Data, err)
			} else if err != nil {
				continue // the empty text is no value of a closed set
			}
			got, err := codec.Decode(ledger.Event{Name: coded.Name, Version: coded.Version, Data: coded.Data})
			if err != nil || !reflect.DeepEqual(got, want.Elem().Interface()) {
				t.Errorf("%s is read as %+v, %v; encoding/json reads %+v", coded.Data, got, err, want.Elem())
			}
			if !ledger.ReadInOnePass(coded.Data, reflect.New(typ).Elem()) {
				slow[e.EventName()] = true
				if notInOnePass[e.EventName()] == "" {
					t.Errorf("%s is not read in one pass: %s", e.EventName(), coded.Data)
				}
			}
		}
	}
	for name := range notInOnePass {
		if !slow[name] {
			t.Errorf("%s is read and written in one pass", name)
		}
	}
}

// inJSON is what encoding/json writes without escaping HTML.
func inJSON(t *testing.T, of any) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(of); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func named[E ledger.Named](of []E) (list []ledger.Named) {
	for _, e := range of {
		list = append(list, e)
	}
	return list
}

// words are texts of which each type that reads itself takes one: a value of each closed set.
var words = []string{
	"keep", "pending", "offered", "warm", "error", "refused", "high", "fallback", "auto", "all", "security", "limit", "lazy", "question", "open", "denied", "private", "user", "ready", "human", "agent", "warning", "1m30s",
	"sha256:" + strings.Repeat("0a", 32),
}

// fill puts something into every field of a value, and so many elements into every list.
func fill(t *testing.T, v reflect.Value, lists int) {
	t.Helper()
	switch into := v.Addr().Interface().(type) {
	case *time.Time:
		*into = time.Date(2026, 3, 2, 9, 0, 0, 1000, time.UTC)
		return
	case *json.RawMessage:
		*into = json.RawMessage(`{"a":["<",1.5]}`)
		return
	case encoding.TextUnmarshaler:
		if !slices.ContainsFunc(words, func(w string) bool { return into.UnmarshalText([]byte(w)) == nil }) {
			t.Errorf("no word is a %s", v.Type())
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text “with” <signs>\n")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(-7)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), lists)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), lists, lists))
		for i := range lists {
			fill(t, v.Index(i), lists)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), lists)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), lists)
		}
	default:
		t.Errorf("no example of %s", v.Type())
	}
}
