package argument

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Object is the schema of any object.
var Object = &jsonschema.Schema{Type: "object"}

// Schema returns the JSON Schema of the arguments T with few tokens: `jsonschema` tags describe fields, and a field without omitempty or
// omitzero is required. The values of a field whose type is a closed set of package client are listed, see choices.go. The schema is closed:
// it has no other fields, and fields with the tag `set:"all"` only if it is full. Schema panics if T has no schema.
func Schema[T any](full bool) json.RawMessage {
	s := schemaOf[T](full)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if !full && f.Tag.Get(setTag) != "" {
			delete(s.Properties, fieldName(f))
			s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, func(name string) bool { return name == fieldName(f) })
		}
	}
	describeChoices(s, reflect.TypeFor[T]())
	return encoded(s)
}

// setTag is the tag of a field that only the clients of a set may give.
const setTag = "set"

// OutputSchema returns the JSON Schema of an answer T. It is open, since answers may get new fields, and does not describe nested objects.
// A refusal, with code and message, conforms to it, too: the TypeScript SDK validates refused calls, and hides those that do not conform.
func OutputSchema[T any]() json.RawMessage {
	s := schemaOf[T](false)
	s.AdditionalProperties = nil
	if len(s.Required) > 0 {
		s.AnyOf = []*jsonschema.Schema{{Required: s.Required}, {Required: []string{"code", "message"}}}
		s.Required = nil
	}
	flatten(s, 1)
	return encoded(s)
}

func encoded(s *jsonschema.Schema) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a test covers every tool
	}
	return b
}

func schemaOf[T any](full bool) *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[List]():            {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
		reflect.TypeFor[Restriction]():     {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[Attachments](): {Type: "array", Items: &jsonschema.Schema{
			Type: "object", Required: []string{"text"}, PropertyOrder: []string{"name", "text"},
			Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}, "text": {Type: "string"}},
		}},
		reflect.TypeFor[Points]():   {Type: "array", Items: pointSchema(full)},
		reflect.TypeFor[Duration](): {Type: "string"},
		reflect.TypeFor[Moment]():   {Type: "string"},
		reflect.TypeFor[Number]():   {Type: "string"},
		reflect.TypeFor[Steps](): {Type: "array", Items: &jsonschema.Schema{
			Type: "object", Required: []string{"action"}, PropertyOrder: []string{"action", "detail", "tool"},
			Properties: map[string]*jsonschema.Schema{"action": {Type: "string"}, "detail": {Type: "string"}, "tool": {Type: "string"}},
		}},
	}})
	if err != nil {
		panic(fmt.Sprintf("the schema of %T: %v", *new(T), err)) // a test covers every tool
	}
	shorten(s)
	return s
}

// pointSchema is the schema of a fact or a decision.
func pointSchema(full bool) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Required: []string{"text"}, PropertyOrder: []string{"text", "supersedes"},
		Properties: map[string]*jsonschema.Schema{
			"text":       {Type: "string"},
			"supersedes": {Type: "string", Description: "id of the one it replaces"},
		},
	}
	if full {
		s.Properties["reasoning"] = &jsonschema.Schema{Type: "string", Description: "why"}
		s.Properties["pinned"] = &jsonschema.Schema{Type: "boolean", Description: "kept before others"}
		s.Properties["importance"] = &jsonschema.Schema{Type: "number", Description: "0 to 1"}
		s.PropertyOrder = append(s.PropertyOrder, "reasoning", "pinned", "importance")
	}
	return s
}

// shorten omits what the decoder does not need: that lists may be null, and that nested objects are closed.
func shorten(s *jsonschema.Schema) {
	s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
	if len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	for _, p := range s.Properties {
		p.AdditionalProperties = nil
		shorten(p)
	}
	if s.Items != nil {
		s.Items.AdditionalProperties = nil
		shorten(s.Items)
	}
}

// flatten omits the properties of objects at a depth.
func flatten(s *jsonschema.Schema, depth int) {
	if s.Items != nil {
		flatten(s.Items, depth+1)
	}
	if depth == 0 {
		s.Properties, s.PropertyOrder, s.Required = nil, nil, nil
	}
	for _, p := range s.Properties {
		flatten(p, depth-1)
	}
}

func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
