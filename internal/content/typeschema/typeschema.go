package typeschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
)

// Object is a JSON Schema, or a part of one.
type Object = map[string]any

// Types are the types whose schema does not follow from their kind.
type Types struct {
	Enums map[reflect.Type][]string // closed sets of texts
	Other map[reflect.Type]Object
}

// Texts returns the values of a closed set as plain texts.
func Texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// Schema returns the schema of a type, which the caller owns. A struct is a reference to the definition of its name.
func (ts Types) Schema(t reflect.Type) (Object, error) {
	if s, ok := ts.Other[t]; ok {
		return maps.Clone(s), nil
	}
	if values, ok := ts.Enums[t]; ok {
		return Object{"type": "string", "enum": values}, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return ts.Schema(t.Elem())
	case reflect.Slice:
		items, err := ts.Schema(t.Elem())
		return Object{"type": "array", "items": items}, err
	case reflect.Map:
		values, err := ts.Schema(t.Elem())
		return Object{"type": "object", "additionalProperties": values}, err
	case reflect.Struct:
		return Object{"$ref": "#/$defs/" + t.Name()}, nil
	case reflect.String:
		if t != reflect.TypeFor[string]() {
			return nil, fmt.Errorf("%s is a closed set that is not listed", t)
		}
		return Object{"type": "string"}, nil
	case reflect.Int, reflect.Int64:
		return Object{"type": "integer"}, nil
	case reflect.Float64:
		return Object{"type": "number"}, nil
	case reflect.Bool:
		return Object{"type": "boolean"}, nil
	default:
		return nil, fmt.Errorf("%s has no JSON Schema", t)
	}
}

// Document is a schema that is published at the address ID.
type Document struct {
	ID, Title, Description string
	Root                   string // the name of the definition of the whole
	Defs                   Object // by name
}

// JSON returns the document, indented.
func (d Document) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(Object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": d.ID, "title": d.Title, "description": d.Description,
		"$ref": "#/$defs/" + d.Root, "$defs": d.Defs,
	})
	return b.Bytes(), err
}
