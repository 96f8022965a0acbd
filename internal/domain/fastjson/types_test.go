package fastjson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/fastjson"
	"github.com/trapezehq/trapeze/internal/domain/visible/visibletest"
)

// types are those whose JSON is read and written most.
func types() (list []reflect.Type) {
	for _, e := range event.Events {
		list = append(list, reflect.TypeOf(e))
	}
	for _, v := range []any{
		envelope.Envelope{}, client.Receipt{}, client.Accepted{}, client.Task{}, client.Sheet{}, client.Preview{}, client.CreateInput{}, client.SendInput{}, client.AcceptInput{}, client.CompleteInput{},
	} {
		list = append(list, reflect.TypeOf(v))
	}
	return list
}

var texts = []string{"", "plain", `"a" \ <b> & 日`, "line\u2028 \x00\x7f\t", "\xff\xc3", "\ufffd\U0001f600"}

// TestTheTypesOfTrapezeHaveTheSameJSON fills each with texts, writes it and reads it.
func TestTheTypesOfTrapezeHaveTheSameJSON(t *testing.T) {
	for _, of := range types() {
		for _, text := range texts {
			same(t, of, text)
		}
	}
}

// FuzzTheTypesOfTrapezeHaveTheSameJSON looks for texts and JSON that are written or read in another way.
func FuzzTheTypesOfTrapezeHaveTheSameJSON(f *testing.F) {
	list := types()
	for i, text := range texts {
		f.Add(i, text)
	}
	for i, doc := range []string{`{"task":"t","epoch":1,"to":["a",null],"position":8,"content":{"envelope":{"a":[1]}}}`, `{"at":"2026-01-02T03:04:05Z","timeouts":{"offer":"10m"},"lease":1}`} {
		f.Add(-1-i, doc)
	}
	f.Fuzz(func(t *testing.T, which int, text string) { same(t, list[uint(which)%uint(len(list))], text) })
}

func same(t *testing.T, of reflect.Type, text string) {
	t.Helper()
	v := reflect.New(of)
	(&visibletest.Filler{Text: text, Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)}).Fill(v.Elem())
	want, wrong := json.Marshal(v.Interface())
	got, err := fastjson.Marshal(v.Interface())
	if !bytes.Equal(got, want) || (err == nil) != (wrong == nil) {
		t.Errorf("%v: %.500q, %v; encoding/json writes %.500q, %v", of, got, err, want, wrong)
	}
	var a, b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err, wrong = fastjson.Encode(&a, v.Elem().Interface()), enc.Encode(v.Elem().Interface())
	if a.String() != string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))) || (err == nil) != (wrong == nil) {
		t.Errorf("%v: %.500q, %v; encoding/json encodes %.500q, %v", of, &a, err, &b, wrong)
	}
	for _, doc := range [][]byte{want, b.Bytes(), []byte(text), bytes.Replace(want, []byte(`"t`), []byte(`"T`), 1), bytes.TrimSuffix(want, []byte("}"))} {
		x, y := reflect.New(of), reflect.New(of)
		err, wrong := fastjson.Unmarshal(doc, x.Interface()), json.Unmarshal(doc, y.Interface())
		if !reflect.DeepEqual(x.Interface(), y.Interface()) || fmt.Sprintf("%T %v", err, err) != fmt.Sprintf("%T %v", wrong, wrong) {
			t.Errorf("%v: %.500q is read as %.500v, %v; encoding/json reads %.500v, %v", of, doc, x, err, y, wrong)
		}
	}
}
