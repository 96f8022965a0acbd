package expect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// walk checks the graph of a compiled schema.
type walk struct {
	forks   map[*jsonschema.Schema]int // levels of subschemas of which several apply to the same value, each inside the other
	heights map[*jsonschema.Schema]int // levels of subschemas below that apply to the same value; underWay while computed
}

const underWay = -1

func (w *walk) check(s *jsonschema.Schema) error {
	switch {
	case s.Location != schemaURL && !strings.HasPrefix(s.Location, schemaURL+"#"):
		return fmt.Errorf("refers to %.80q, which is outside it", s.Location)
	case s.DynamicRef != nil || s.RecursiveRef != nil:
		return errors.New("uses $dynamicRef or $recursiveRef: use $ref")
	}
	_, err := w.height(s)
	return err
}

// height refuses subschemas that apply themselves to the same value, which would never end.
func (w *walk) height(s *jsonschema.Schema) (int, error) {
	if h, ok := w.heights[s]; ok {
		if h == underWay {
			return 0, fmt.Errorf("applies itself to the same value without end, at %.80q", strings.TrimPrefix(s.Location, schemaURL))
		}
		return h, nil
	}
	w.heights[s] = underWay
	h := 0
	for _, next := range inPlace(s) {
		below, err := w.height(next)
		if err != nil {
			return 0, err
		}
		h = max(h, below+1)
	}
	if h > maxInPlace {
		return 0, fmt.Errorf("applies more than %d subschemas to one value, each inside the other", maxInPlace)
	}
	w.heights[s] = h
	return h, nil
}

// forksOf counts the levels of forks from a subschema down, of those that apply to the same value. Heights have shown that it ends.
func (w *walk) forksOf(s *jsonschema.Schema) int {
	if n, known := w.forks[s]; known {
		return n
	}
	n, list := 0, inPlace(s)
	for _, next := range list {
		n = max(n, w.forksOf(next))
	}
	if len(list) > 1 {
		n++
	}
	w.forks[s] = n
	return n
}

// inPlace returns the subschemas that s applies to the same value.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	var list []*jsonschema.Schema
	list = add(list, s.Ref, s.Not, s.If, s.Then, s.Else)
	list = add(list, s.AllOf...)
	list = add(list, s.AnyOf...)
	list = add(list, s.OneOf...)
	for _, d := range s.DependentSchemas {
		list = add(list, d)
	}
	for _, d := range s.Dependencies {
		list = addAny(list, d)
	}
	return list
}

// onMembers returns the subschemas that s applies to the members of a value.
func onMembers(s *jsonschema.Schema) []*jsonschema.Schema {
	list := onAnyMember(s)
	for _, p := range s.Properties {
		list = add(list, p)
	}
	return list
}

// onAnyMember returns those of onMembers that are not selected by the name of a member.
func onAnyMember(s *jsonschema.Schema) []*jsonschema.Schema {
	var list []*jsonschema.Schema
	list = add(list, s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema)
	list = add(list, s.PrefixItems...)
	for _, p := range s.PatternProperties {
		list = add(list, p)
	}
	list = addAny(list, s.AdditionalProperties)
	list = addAny(list, s.Items)
	return addAny(list, s.AdditionalItems)
}

func add(list []*jsonschema.Schema, more ...*jsonschema.Schema) []*jsonschema.Schema {
	for _, s := range more {
		if s != nil {
			list = append(list, s)
		}
	}
	return list
}

// addAny adds a value that the library keeps as a schema, a list of schemas, or something else.
func addAny(list []*jsonschema.Schema, v any) []*jsonschema.Schema {
	switch v := v.(type) {
	case *jsonschema.Schema:
		return add(list, v)
	case []*jsonschema.Schema:
		return add(list, v...)
	}
	return list
}
