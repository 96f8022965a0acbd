package argument

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is the JSON Schema of a struct of ours, in as few tokens as it can be said: `jsonschema` tags describe fields, `enum` tags
// list the values of one, and a field without omitempty or omitzero is required. What is taken is closed: it has these fields and
// no others. What is given is not, and of what lies deep in it no more is said than that it is there. A type that has no schema
// panics.
func Schema[T any](closed bool) json.RawMessage {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[List]():            {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[Points](): {Type: "array", Items: &jsonschema.Schema{
			Type: "object", Required: []string{"text"}, PropertyOrder: []string{"text", "supersedes"},
			Properties: map[string]*jsonschema.Schema{
				"text":       {Type: "string"},
				"supersedes": {Type: "string", Description: "id of the one it replaces"},
			},
		}},
	}})
	if err != nil {
		panic(fmt.Sprintf("the schema of %T: %v", *new(T), err)) // a test would have seen it
	}
	shorten(s)
	choices(s, reflect.TypeFor[T]())
	if !closed { // an answer may grow, and what lies deep in it explains itself
		s.AdditionalProperties = nil
		flatten(s, 1)
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // as above
	}
	return b
}

// shorten leaves out what the decoder does not need said: that lists may be null, and that objects within are closed.
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

// flatten leaves out what objects are made of from a depth on.
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

// choices are the values of closed sets.
func choices(s *jsonschema.Schema, t reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		values := f.Tag.Get("enum")
		if values == "" {
			continue
		}
		p := s.Properties[fieldName(f)]
		for _, v := range strings.Split(values, ",") {
			p.Enum = append(p.Enum, v)
		}
	}
}

func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
