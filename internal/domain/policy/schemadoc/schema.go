package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/policy"
)

// schemaID is where the schema is published.
const schemaID = "https://github.com/trapezehq/trapeze/blob/main/docs/policy.schema.json"

// objects are the kinds of object that a file is made of, in the order of the page.
var objects = []struct {
	title string
	of    reflect.Type
}{
	{"The file", reflect.TypeFor[policy.Policy]()},
	{"A rule", reflect.TypeFor[policy.Rule]()},
	{"when", reflect.TypeFor[policy.When]()},
	{"then", reflect.TypeFor[policy.Then]()},
	{"to", reflect.TypeFor[policy.Target]()},
	{"pack", reflect.TypeFor[policy.Pack]()},
	{"A level of a chain", reflect.TypeFor[policy.Level]()},
	{"escalation", reflect.TypeFor[policy.Escalation]()},
	{"llm", reflect.TypeFor[policy.LLM]()},
}

type object = map[string]any

const namePattern = "^[a-z0-9][a-z0-9._-]{0,63}$"

// limits are the keywords of single fields, by Go type and field.
var limits = map[string]object{
	"Policy.version":        {"const": policy.Version},
	"Policy.rules":          {"maxItems": policy.MaxRules},
	"Policy.chains":         {"maxProperties": policy.MaxChains},
	"When.keywords":         {"minItems": 1, "maxItems": policy.MaxWords},
	"When.tags":             {"minItems": 1, "maxItems": policy.MaxTags},
	"When.from":             {"minItems": 1, "maxItems": policy.MaxFrom},
	"When.confidence_below": {"exclusiveMinimum": 0, "maximum": 1},
	"When.steps_above":      {"minimum": 0},
	"When.tokens_above":     {"minimum": 0},
	"When.cel":              {"maxLength": policy.MaxExpression},
	"Then.detail":           {"maxLength": policy.MaxDetail},
	"Pack.tokens":           {"minimum": 0, "maximum": event.MaxPackTokens},
	"LLM.endpoint":          {"maxLength": policy.MaxEndpoint, "pattern": "^https?://"},
	"LLM.model":             {"minLength": 1, "maxLength": policy.MaxModel},
	"LLM.api_key_env":       {"pattern": "^" + policy.KeyPrefix + "[A-Z0-9_]*$"},
	"LLM.max_tokens":        {"minimum": 1, "maximum": policy.MaxAdviceTokens},
	"LLM.retries":           {"minimum": 0, "maximum": policy.MaxAdviceRetries},
	"LLM.per_hour":          {"minimum": 1, "maximum": policy.MaxAdviceCalls},
	"LLM.tokens_per_hour":   {"minimum": 1, "maximum": policy.MaxAdviceSpent},
	"LLM.share":             {"minimum": 1, "maximum": 100},
	"Pack.pinned":           {"maxItems": event.MaxPinned},
}

// closed are the closed sets that a policy file has values of.
var closed = map[reflect.Type][]string{
	reflect.TypeFor[event.Kind]():     texts(event.Kinds()),
	reflect.TypeFor[event.Reason]():   texts(event.Reasons()),
	reflect.TypeFor[event.Strategy](): texts(event.Strategies()),
}

func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// schema is the JSON Schema of policy files.
func schema() ([]byte, error) {
	defs := object{}
	for _, o := range objects {
		def, err := define(o.of)
		if err != nil {
			return nil, err
		}
		defs[o.of.Name()] = def
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(object{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"$id":     schemaID,
		"title":   fmt.Sprintf("Trapeze policy, version %d", policy.Version),
		"description": "Generated from the Go types. trapeze policy check finds more: bad expressions, cycles, chains without an end, " +
			"and targets that do not exist.",
		"$ref":  "#/$defs/Policy",
		"$defs": defs,
	})
	return b.Bytes(), err
}

// member is one field of an object, as a file has it.
type member struct {
	name, doc, is string
	need          bool
	of            reflect.Type
}

func members(t reflect.Type) []member {
	var list []member
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("yaml"); name != "" && name != "-" {
			list = append(list, member{name: name, doc: f.Tag.Get("doc"), is: f.Tag.Get("is"), need: f.Tag.Get("need") != "", of: f.Type})
		}
	}
	return list
}

func define(t reflect.Type) (object, error) {
	properties := object{}
	var required []string
	for _, m := range members(t) {
		if m.doc == "" {
			return nil, fmt.Errorf("%s.%s is not explained", t.Name(), m.name)
		}
		property, err := typed(m.of, m.is)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t.Name(), m.name, err)
		}
		for k, v := range limits[t.Name()+"."+m.name] {
			property[k] = v
		}
		property["description"] = m.doc
		properties[m.name] = property
		if m.need {
			required = append(required, m.name)
		}
	}
	def := object{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		def["required"] = required
	}
	switch t {
	case reflect.TypeFor[policy.Target](), reflect.TypeFor[policy.Level]():
		def["minProperties"], def["maxProperties"] = 1, 1
	case reflect.TypeFor[policy.Then]():
		def = object{"oneOf": []any{object{"const": "keep", "description": "The task stays where it is."}, def}}
	}
	return def, nil
}

// typed is the schema of a Go type. is says what the texts in it are.
func typed(t reflect.Type, is string) (object, error) {
	if set, ok := closed[t]; ok {
		return object{"type": "string", "enum": set}, nil
	}
	if t == reflect.TypeFor[event.Duration]() {
		return object{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(h|m|s|ms))+$`}, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typed(t.Elem(), is)
	case reflect.Slice:
		items, err := typed(t.Elem(), is)
		return object{"type": "array", "items": items}, err
	case reflect.Map:
		values, err := typed(t.Elem(), is)
		return object{"type": "object", "propertyNames": object{"pattern": namePattern}, "additionalProperties": values}, err
	case reflect.Struct:
		return object{"$ref": "#/$defs/" + t.Name()}, nil
	case reflect.String:
		s := object{"type": "string"}
		if is == "name" {
			s["pattern"] = namePattern
		}
		return s, nil
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}, nil
	case reflect.Float64:
		return object{"type": "number"}, nil
	default:
		return nil, fmt.Errorf("%s has no JSON Schema", t)
	}
}
