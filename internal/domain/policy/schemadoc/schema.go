package main

import (
	"fmt"
	"maps"
	"reflect"

	"github.com/trapezehq/trapeze/internal/content/typeschema"
	"github.com/trapezehq/trapeze/internal/domain/alert"
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
	{"embeddings", reflect.TypeFor[policy.Embeddings]()},
	{"alerts", reflect.TypeFor[policy.Alert]()},
	{"A rule of retention", reflect.TypeFor[policy.Retention]()},
}

type object = typeschema.Object

const namePattern = "^[a-z0-9][a-z0-9._-]{0,63}$"

// limits are the keywords of single fields, by Go type and field.
var limits = map[string]object{
	"Policy.version":            {"const": policy.Version},
	"Policy.rules":              {"maxItems": policy.MaxRules},
	"Policy.chains":             {"maxProperties": policy.MaxChains},
	"When.keywords":             {"minItems": 1, "maxItems": policy.MaxWords},
	"When.tags":                 {"minItems": 1, "maxItems": policy.MaxTags},
	"When.from":                 {"minItems": 1, "maxItems": policy.MaxFrom},
	"When.confidence_below":     {"exclusiveMinimum": 0, "maximum": 1},
	"When.steps_above":          {"minimum": 0},
	"When.tokens_above":         {"minimum": 0},
	"When.cel":                  {"maxLength": policy.MaxExpression},
	"Then.detail":               {"maxLength": policy.MaxDetail},
	"Pack.tokens":               {"minimum": 0, "maximum": event.MaxPackTokens},
	"LLM.endpoint":              {"maxLength": policy.MaxEndpoint, "pattern": "^https?://"},
	"LLM.model":                 {"minLength": 1, "maxLength": policy.MaxModel},
	"LLM.api_key_env":           {"pattern": "^" + policy.KeyPrefix + "[A-Z0-9_]*$"},
	"LLM.max_tokens":            {"minimum": 1, "maximum": policy.MaxAdviceTokens},
	"LLM.retries":               {"minimum": 0, "maximum": policy.MaxAdviceRetries},
	"LLM.per_hour":              {"minimum": 1, "maximum": policy.MaxAdviceCalls},
	"LLM.tokens_per_hour":       {"minimum": 1, "maximum": policy.MaxAdviceSpent},
	"LLM.share":                 {"minimum": 1, "maximum": 100},
	"Embeddings.endpoint":       {"maxLength": policy.MaxEndpoint, "pattern": "^https?://"},
	"Embeddings.model":          {"minLength": 1, "maxLength": policy.MaxModel},
	"Embeddings.api_key_env":    {"pattern": "^" + policy.KeyPrefix + "[A-Z0-9_]*$"},
	"Embeddings.command_env":    {"pattern": "^" + policy.CommandPrefix + "[A-Z0-9_]*$"},
	"Embeddings.min_similarity": {"exclusiveMinimum": 0, "exclusiveMaximum": 1},
	"Policy.alerts":             {"propertyNames": object{"enum": alert.Names()}},
	"Pack.pinned":               {"maxItems": event.MaxPinned},
	"Policy.retention":          {"maxItems": policy.MaxRetentions},
	"Retention.at_least_days":   {"minimum": 1, "maximum": policy.MaxRetention},
	"Retention.at_most_days":    {"minimum": 1, "maximum": policy.MaxRetention},
}

// closed are the closed sets that a policy file has values of.
var closed = map[reflect.Type][]string{
	reflect.TypeFor[event.Kind]():           typeschema.Texts(event.Kinds.Values()),
	reflect.TypeFor[event.Reason]():         typeschema.Texts(event.Reasons.Values()),
	reflect.TypeFor[event.Strategy]():       typeschema.Texts(event.Strategies.Values()),
	reflect.TypeFor[policy.RetentionKind](): typeschema.Texts(policy.RetentionKinds.Values()),
}

// types are the types of fields whose schema does not follow from their kind; in names, texts are names.
var (
	types = typeschema.Types{Enums: closed, Other: map[reflect.Type]object{reflect.TypeFor[event.Duration](): duration}}
	names = typeschema.Types{Enums: closed, Other: map[reflect.Type]object{
		reflect.TypeFor[event.Duration](): duration, reflect.TypeFor[string](): {"type": "string", "pattern": namePattern},
	}}
	duration = object{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(h|m|s|ms))+$`}
)

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
	return typeschema.Document{
		ID: schemaID, Title: fmt.Sprintf("Trapeze policy, version %d", policy.Version), Root: "Policy", Defs: defs,
		Description: "Generated from the Go types. trapeze policy check finds more: bad expressions, cycles, chains without an end, " +
			"and targets that do not exist.",
	}.JSON()
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
		of := types
		if m.is == "name" {
			of = names
		}
		property, err := of.Schema(m.of)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t.Name(), m.name, err)
		}
		if m.of.Kind() == reflect.Map {
			property["propertyNames"] = object{"pattern": namePattern}
		}
		maps.Copy(property, limits[t.Name()+"."+m.name])
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
	case reflect.TypeFor[policy.Alert]():
		def["minProperties"] = 1
		def = object{"oneOf": []any{object{"const": "off", "description": "The alert is never raised."}, def}}
	case reflect.TypeFor[policy.Then]():
		def = object{"oneOf": []any{object{"const": "keep", "description": "The task stays where it is."}, def}}
	}
	return def, nil
}
