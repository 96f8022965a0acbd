//go:build slow

package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

// place is where a value is in a document.
type place struct {
	path   string
	value  any
	object map[string]any // the object that it is a field of
	list   []any          // or the list
	name   string
	index  int
}

func (p place) set(v any) {
	if p.object != nil {
		p.object[p.name] = v
	} else {
		p.list[p.index] = v
	}
}

// places lists the values of a document, without those inside of free JSON.
func places(v any, path string) (all []place) {
	add := func(p place) {
		all = append(all, p)
		if p.path != ".task.data" && p.path != ".expected_output.schema" {
			all = append(all, places(p.value, p.path)...)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			add(place{path: path + "." + name, value: v[name], object: v, name: name})
		}
	case []any:
		for i, e := range v {
			add(place{path: path + "[]", value: e, list: v, index: i})
		}
	}
	return all
}

// beyond reports whether JSON Schema cannot say what the server refuses: that a field is unique in a list, that one field
// is after another, or a length in bytes.
func beyond(err error) bool {
	return strings.Contains(err.Error(), "is used twice") || strings.Contains(err.Error(), "is not after") || strings.Contains(err.Error(), "bytes")
}

// spoil changes a document in one place.
func spoil(t *rapid.T, doc map[string]any) string {
	p := rapid.SampledFrom(places(doc, "")).Draw(t, "place")
	object, isObject := p.value.(map[string]any)
	list, isList := p.value.([]any)
	free := strings.HasPrefix(p.path, ".task.data") || strings.HasPrefix(p.path, ".expected_output.schema")
	switch how := rapid.SampledFrom([]string{"remove", "another type", "a field more", "an entry twice"}).Draw(t, "how"); {
	case how == "remove" && p.object != nil:
		delete(p.object, p.name)
	case how == "a field more" && isObject && !free:
		object["surprise"] = true
	case how == "an entry twice" && isList && len(list) > 0:
		p.set(append(slices.Clone(list), list[0]))
	default:
		p.set(rapid.SampledFrom([]any{"", " ", "x y", "\n", -1.0, 1.5, 1e12, true, []any{}, map[string]any{}, []any{"x", "x"}, "sha256:0"}).Draw(t, "value"))
	}
	return p.path
}

func TestWhatTheServerRefusesTheSchemaRefusesWhereItCanSayIt(t *testing.T) {
	s := compiled(t)
	raw, err := os.ReadFile("../testdata/frozen/full-1.2.json")
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		var doc map[string]any
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatal(err)
		}
		path := spoil(t, doc)
		changed, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		_, no := envelope.Decode(changed)
		if no == nil || beyond(no) {
			return
		}
		refused++
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(changed))
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(v) == nil {
			t.Fatalf("%s: the server refuses (%v) what the schema accepts: %.300s", path, no, changed)
		}
	})
	if refused == 0 {
		t.Error("nothing was refused")
	}
}
