package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Where the schema is published, and the kinds of object it is made of, in the order of the page.
const schemaID = "https://github.com/trapezehq/trapeze/blob/main/docs/envelope.schema.json"

var objects = []struct {
	title string
	of    reflect.Type
}{
	{"The envelope", reflect.TypeFor[envelope.Envelope]()},
	{"handoff", reflect.TypeFor[envelope.Header]()},
	{"task", reflect.TypeFor[envelope.Task]()},
	{"key_facts, decisions", reflect.TypeFor[envelope.Item]()},
	{"history", reflect.TypeFor[envelope.Step]()},
	{"constraints", reflect.TypeFor[envelope.Constraint]()},
	{"expected_output", reflect.TypeFor[envelope.Expected]()},
	{"memory", reflect.TypeFor[envelope.MemoryRef]()},
	{"artifacts", reflect.TypeFor[envelope.Artifact]()},
	{"conversation", reflect.TypeFor[envelope.Turn]()},
	{"omissions", reflect.TypeFor[envelope.Omission]()},
	{"gaps", reflect.TypeFor[envelope.Gap]()},
	{"packing", reflect.TypeFor[envelope.Packing]()},
	{"trace", reflect.TypeFor[envelope.Trace]()},
}

// closed are the closed sets.
var closed = map[reflect.Type][]string{
	reflect.TypeFor[event.Priority]():          texts(event.Priorities()),
	reflect.TypeFor[event.Reason]():            texts(event.Reasons()),
	reflect.TypeFor[event.Kind]():              texts(event.Kinds()),
	reflect.TypeFor[event.ConstraintKind]():    texts(event.ConstraintKinds()),
	reflect.TypeFor[event.Strategy]():          texts(event.Strategies()),
	reflect.TypeFor[envelope.PartKind]():       texts(envelope.PartKinds()),
	reflect.TypeFor[envelope.OmissionReason](): texts(envelope.OmissionReasons()),
	reflect.TypeFor[envelope.GapReason]():      texts(envelope.GapReasons()),
	reflect.TypeFor[envelope.Listing]():        texts(envelope.Listings()),
}

func texts[T ~string](set []T) []string {
	out := make([]string, len(set))
	for i, v := range set {
		out[i] = string(v)
	}
	return out
}

// member is one field of an object, as JSON has it.
type member struct {
	key      string // in the table
	name     string
	required bool
	of       reflect.Type
}

// members lists the fields of a type, with those of the types that it embeds.
func members(t reflect.Type) []member {
	var list []member
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "-" {
			continue
		}
		owner := t
		if len(f.Index) > 1 {
			owner = t.FieldByIndex(f.Index[:len(f.Index)-1]).Type
		}
		list = append(list, member{
			key: owner.Name() + "." + name, name: name, of: f.Type, required: !strings.Contains(options, "omit"),
		})
	}
	return list
}

// schema is the JSON Schema of envelopes.
func schema() ([]byte, error) {
	defs := map[string]any{}
	for _, o := range objects {
		def, err := object(o.of)
		if err != nil {
			return nil, err
		}
		defs[o.of.Name()] = def
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"$id":     schemaID,
		"title":   "Trapeze envelope, version " + envelope.Version,
		"description": "Generated from the Go types. Fields of a newer minor version may stand beside those named here. " +
			"Lengths count characters here and bytes in the server, which has further rules: see envelope.md.",
		"$ref":  "#/$defs/Envelope",
		"$defs": defs,
	})
	return b.Bytes(), err
}

func object(t reflect.Type) (any, error) {
	properties := map[string]any{}
	var required []string
	for _, m := range members(t) {
		f, ok := fields[m.key]
		if !ok {
			return nil, fmt.Errorf("%s is not explained: add it to fields.go", m.key)
		}
		property, err := typed(m.of)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.key, err)
		}
		for k, v := range f.limits {
			property[k] = v
		}
		property["description"] = f.doc
		if f.since != "" {
			property["description"] = f.doc + " Since version " + f.since + "."
		}
		properties[m.name] = property
		if m.required {
			required = append(required, m.name)
		}
	}
	def := map[string]any{"type": "object", "properties": properties}
	if required != nil {
		def["required"] = required
	}
	return def, nil
}

// typed is the schema of a Go type.
func typed(t reflect.Type) (map[string]any, error) {
	if set, ok := closed[t]; ok {
		return map[string]any{"type": "string", "enum": set}, nil
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}, nil
	case reflect.TypeFor[json.RawMessage]():
		return map[string]any{}, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typed(t.Elem())
	case reflect.Slice:
		items, err := typed(t.Elem())
		return map[string]any{"type": "array", "items": items}, err
	case reflect.Struct:
		return map[string]any{"$ref": "#/$defs/" + t.Name()}, nil
	case reflect.String:
		if t != reflect.TypeFor[string]() {
			return nil, fmt.Errorf("%s is a closed set that is not listed in schema.go", t)
		}
		return map[string]any{"type": "string"}, nil
	case reflect.Int:
		return map[string]any{"type": "integer"}, nil
	case reflect.Float64:
		return map[string]any{"type": "number"}, nil
	case reflect.Bool:
		return map[string]any{"type": "boolean"}, nil
	default:
		return nil, fmt.Errorf("%s has no JSON Schema", t)
	}
}
