package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/typeschema"
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
	reflect.TypeFor[event.Priority]():          typeschema.Texts(event.Priorities.Values()),
	reflect.TypeFor[event.Reason]():            typeschema.Texts(event.Reasons.Values()),
	reflect.TypeFor[event.Kind]():              typeschema.Texts(event.Kinds.Values()),
	reflect.TypeFor[event.ConstraintKind]():    typeschema.Texts(event.ConstraintKinds.Values()),
	reflect.TypeFor[event.Strategy]():          typeschema.Texts(event.Strategies.Values()),
	reflect.TypeFor[envelope.PartKind]():       typeschema.Texts(envelope.PartKinds.Values()),
	reflect.TypeFor[envelope.OmissionReason](): typeschema.Texts(envelope.OmissionReasons.Values()),
	reflect.TypeFor[envelope.GapReason]():      typeschema.Texts(envelope.GapReasons.Values()),
	reflect.TypeFor[envelope.Listing]():        typeschema.Texts(envelope.Listings.Values()),
}

// types are the types of fields whose schema does not follow from their kind.
var types = typeschema.Types{Enums: closed, Other: map[reflect.Type]typeschema.Object{
	reflect.TypeFor[time.Time]():       {"type": "string", "format": "date-time"},
	reflect.TypeFor[json.RawMessage](): {},
}}

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
	return typeschema.Document{
		ID: schemaID, Title: "Trapeze envelope, version " + envelope.Version, Root: "Envelope", Defs: defs,
		Description: "Generated from the Go types. Documents of a newer minor version may have further fields. " +
			"Lengths count characters here and bytes in the server, which has further rules: see envelope.md.",
	}.JSON()
}

func object(t reflect.Type) (any, error) {
	properties := map[string]any{}
	var required []string
	for _, m := range members(t) {
		f, ok := fields[m.key]
		if !ok {
			return nil, fmt.Errorf("%s is not explained: add it to fields.go", m.key)
		}
		property, err := types.Schema(m.of)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.key, err)
		}
		maps.Copy(property, f.limits)
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
