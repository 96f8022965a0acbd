package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Document returns the OpenAPI document of the API as other programs need it. Beyond what is registered it says what the server accepts too:
// null for a field that may be omitted, and an empty query parameter or header for none.
func Document(api *huma.OpenAPI) ([]byte, error) {
	text, err := json.Marshal(api)
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	doc["servers"] = []any{map[string]any{"url": "/", "description": "This server."}}
	each(doc, func(schema map[string]any) { delete(schema, "patternDescription") })
	sent := map[string]bool{}
	components := at(at(doc, "components"), "schemas")
	for _, item := range at(doc, "paths") {
		for _, op := range asObject(item) {
			op := asObject(op)
			allowEmpty(op)
			for _, media := range at(at(op, "requestBody"), "content") {
				allowNull(at(asObject(media), "schema"), components, sent)
			}
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(doc)
	return out.Bytes(), err
}

// allowNull lets null stand for an omitted field, in a schema and all that it refers to.
func allowNull(schema, components map[string]any, done map[string]bool) {
	if ref, _ := schema["$ref"].(string); ref != "" { // none is ""
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		if !done[name] {
			done[name] = true
			allowNull(at(components, name), components, done)
		}
		return
	}
	if items := at(schema, "items"); items != nil {
		allowNull(items, components, done)
	}
	required, _ := schema["required"].([]any) // none is nil
	properties := at(schema, "properties")
	for name, p := range properties {
		p := asObject(p)
		allowNull(p, components, done)
		if !slices.Contains(required, any(name)) {
			properties[name] = orNull(p)
		}
	}
}

// orNull is a schema that allows null too.
func orNull(schema map[string]any) map[string]any {
	if ref, ok := schema["$ref"]; ok {
		delete(schema, "$ref")
		schema["anyOf"] = []any{map[string]any{"$ref": ref}, map[string]any{"type": "null"}}
		return schema
	}
	switch kind := schema["type"].(type) {
	case string:
		schema["type"] = []any{kind, "null"}
	case []any:
		if !slices.Contains(kind, any("null")) {
			schema["type"] = append(kind, "null")
		}
	}
	if values, ok := schema["enum"].([]any); ok && !slices.Contains(values, any(nil)) {
		schema["enum"] = append(values, nil)
	}
	return schema
}

// allowEmpty lets an empty query parameter stand for none, and a header without a value.
func allowEmpty(op map[string]any) {
	params, _ := op["parameters"].([]any) // none is nil
	for _, p := range params {
		p := asObject(p)
		schema := at(p, "schema")
		if p["required"] == true {
			continue
		}
		if p["in"] == "header" && schema["type"] == "integer" {
			p["schema"] = orEmpty(schema)
		}
		if p["in"] != "query" {
			continue
		}
		if pattern, ok := schema["pattern"].(string); ok {
			schema["pattern"] = "^$|" + pattern
		}
		if schema["format"] == "date-time" {
			p["schema"] = orEmpty(schema)
		}
	}
}

func orEmpty(schema map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{schema, map[string]any{"type": "string", "maxLength": 0}}}
}

// each calls fn with every object of a document.
func each(v any, fn func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		fn(v)
		for _, inner := range v {
			each(inner, fn)
		}
	case []any:
		for _, inner := range v {
			each(inner, fn)
		}
	}
}

// at is an object inside an object, nil if there is none.
func at(v map[string]any, name string) map[string]any { return asObject(v[name]) }

func asObject(v any) map[string]any {
	object, _ := v.(map[string]any) // none is nil
	return object
}
