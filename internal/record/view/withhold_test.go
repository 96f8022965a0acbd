package view

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// labels are the texts of events that are no content: names, ids, digests, lists of such, and texts that the server itself writes.
var labels = strings.Fields(`
	subject agent sender senders by from to then task child requester parent desk model policy rule chain channel capability origin conversation
	digest envelope source granted route tags permissions cancel owner entry id text_by hard_by max_by allow_by tightened_by
	approver through trace`)

// listed are the paths of texts that are told to everybody who has a part in the task: what binds it, and why a receiver was chosen.
var listed = []string{"passed_over.", "decision.", "constraints.", "constraint.", "own.", "after.", "expected.", "parent.", "pack.", "fan_in.", "children-joined.why"}

// texts calls fn with the path of each free text in a type.
func texts(t reflect.Type, path string, fn func(path string)) {
	if t.PkgPath() == "time" {
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Array:
		texts(t.Elem(), path, fn)
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			fn(path)
			return
		}
		texts(t.Elem(), path, fn)
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Type == t || f.Type.Kind() == reflect.Slice && f.Type.Elem() == t {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			texts(f.Type, strings.TrimPrefix(path+"."+name, "."), fn)
		}
	case reflect.String:
		if t == reflect.TypeFor[string]() {
			fn(path)
		}
	default: // numbers and flags
	}
}

func TestEveryTextOfAnEventIsContentOrListedAsALabel(t *testing.T) {
	for _, ev := range event.Events {
		name := ev.EventName()
		texts(reflect.TypeOf(ev), "", func(path string) {
			withheld := slices.ContainsFunc(content[name], func(c string) bool { return path == c || strings.HasPrefix(path, c+".") })
			last := path[strings.LastIndex(path, ".")+1:]
			public := slices.Contains(labels, last) || slices.ContainsFunc(listed, func(l string) bool { return strings.HasPrefix(name+"."+path, l) || strings.HasPrefix(path, l) })
			if !withheld && !public {
				t.Errorf("%s.%s is a text: list it as content, or say here why everybody with a part in the task may read it", name, path)
			}
		})
	}
}

// filled is a value of a type with a word in each text.
func filled(v reflect.Value, word string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), word)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"text":"` + word + `"}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0), word)
	case reflect.Struct:
		if v.Type().PkgPath() == "time" {
			return
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() && f.Type() != v.Type() {
				filled(f, word)
			}
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(word)
		}
	default: // numbers and flags
	}
}

func TestWhatIsWithheldIsGoneAndTheEventStillDecodes(t *testing.T) {
	codec := ledger.NewCodec(event.Events...)
	for _, ev := range event.Events {
		name := ev.EventName()
		for _, path := range content[name] {
			v := reflect.New(reflect.TypeOf(ev)).Elem()
			filled(v, "SECRET")
			raw, err := json.Marshal(v.Interface())
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			coded, err := codec.Encode(ev)
			if err != nil {
				t.Fatal(err)
			}
			coded.Data = raw
			got := Withhold(ledger.Entry{Events: []ledger.Event{coded}}, false).Events[0]
			if at := field(t, got.Data, strings.Split(path, ".")); strings.Contains(string(at), "SECRET") || at == nil {
				t.Errorf("%s.%s: %s", name, path, at)
			}
			if path == intent {
				kept := Withhold(ledger.Entry{Events: []ledger.Event{coded}}, true).Events[0]
				if at := field(t, kept.Data, []string{path}); !strings.Contains(string(at), "SECRET") {
					t.Errorf("%s.%s is withheld: %s", name, path, at)
				}
			}
			if _, err := codec.Decode(Withhold(ledger.Entry{Events: []ledger.Event{must(t, codec, ev)}}, false).Events[0]); err != nil {
				t.Errorf("%s does not decode: %v", name, err)
			}
		}
	}
}

func must(t *testing.T, codec *ledger.Codec[event.Event], ev event.Event) ledger.Event {
	t.Helper()
	coded, err := codec.Encode(ev)
	if err != nil {
		t.Fatal(err)
	}
	return coded
}

// field is the value at a path, through the first element of arrays.
func field(t *testing.T, data json.RawMessage, path []string) json.RawMessage {
	t.Helper()
	for _, name := range path {
		var list []json.RawMessage
		if json.Unmarshal(data, &list) == nil && len(list) > 0 {
			data = list[0]
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		data = all[name]
	}
	return data
}
