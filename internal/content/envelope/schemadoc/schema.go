package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strconv"
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
	{"dropped", reflect.TypeFor[envelope.Dropped]()},
	{"packing", reflect.TypeFor[envelope.Packing]()},
	{"trace", reflect.TypeFor[envelope.Trace]()},
	{"text_by", reflect.TypeFor[envelope.Authors]()},
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
	reflect.TypeFor[envelope.DroppedKind]():    typeschema.Texts(envelope.DroppedKinds.Values()),
	reflect.TypeFor[envelope.Listing]():        typeschema.Texts(envelope.Listings.Values()),
}

// types are the types of fields whose schema does not follow from their kind.
var types = typeschema.Types{Enums: closed, Other: map[reflect.Type]typeschema.Object{
	reflect.TypeFor[time.Time](): {
		"type": "string", "format": "date-time", "pattern": `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`,
	},
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
		if o.of == reflect.TypeFor[envelope.Envelope]() {
			def["if"] = typeschema.Object{"properties": typeschema.Object{"version": typeschema.Object{"pattern": upToMinor(last())}}}
			def["then"] = typeschema.Object{"$ref": "#/$defs/" + exact(o.of)}
			def["allOf"] = gates()
		}
		defs[o.of.Name()] = def
		defs[exact(o.of)] = onlyDefined(o.of)
	}
	return typeschema.Document{
		ID: schemaID, Title: "Trapeze envelope, version " + envelope.Version, Root: "Envelope", Defs: defs,
		Description: "Generated from the Go types. Documents of a newer minor version may have further fields, others may not. " +
			"Lengths count characters here and bytes in the server, which also refuses an id that is used twice in a list, and " +
			"has further rules that JSON Schema cannot say: see envelope.md.",
	}.JSON()
}

// exact is the name of the definition that allows no fields of an object but those of this version.
func exact(t reflect.Type) string { return t.Name() + "Exact" }

// onlyDefined is that definition. The server refuses unknown fields unless the document is of a newer minor version.
func onlyDefined(t reflect.Type) any {
	var names []string
	properties := typeschema.Object{}
	for _, m := range members(t) {
		names = append(names, m.name)
		of, list := m.of, false
		if of.Kind() == reflect.Slice {
			of, list = of.Elem(), true
		}
		if of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]() {
			continue
		}
		ref := typeschema.Object{"$ref": "#/$defs/" + exact(of)}
		if list {
			ref = typeschema.Object{"items": ref}
		}
		properties[m.name] = ref
	}
	return typeschema.Object{"propertyNames": typeschema.Object{"enum": names}, "properties": properties}
}

// last is the minor of this version.
func last() int {
	_, minor, _ := strings.Cut(envelope.Version, ".")
	n, err := strconv.Atoi(minor)
	if err != nil {
		return 0
	}
	return n
}

// upToMinor matches the versions of this major up to a minor.
func upToMinor(most int) string {
	major, _, _ := strings.Cut(envelope.Version, ".")
	minors := make([]string, most+1)
	for i := range minors {
		minors[i] = strconv.Itoa(i)
	}
	return `^` + major + `\.(` + strings.Join(minors, "|") + `)$`
}

// gates refuse what a document says in fields that its version does not define, as the server does.
func gates() []any {
	type o = typeschema.Object
	items := func(fields o) o { return o{"items": o{"properties": fields}} }
	unsaid, no := o{"maxLength": 0}, o{"const": false}
	noEntry, anEntry := o{"maxItems": 0}, o{"minItems": 1}
	weighed := func(field string) o { return items(o{field: unsaid, "pinned": no, "importance": o{"const": 0}}) }
	var list []any
	for i, fields := range []o{
		{
			"memory": noEntry, "artifacts": noEntry, "conversation": noEntry, "omissions": noEntry, "gaps": noEntry, "packing": false,
			"key_facts": weighed("reasoning"), "decisions": weighed("reasoning"), "history": weighed("tool"),
		},
		{"handoff": o{"properties": o{"permissions": anEntry}}, "constraints": items(o{"allow": anEntry})},
		{"constraints": items(o{"added": no, "text_by": unsaid, "hard_by": unsaid, "max_by": unsaid, "allow_by": unsaid})},
		{
			"task": o{"properties": o{"deadline": false}}, "handoff": o{"properties": o{"part_of": unsaid, "result_to": unsaid, "part_for": unsaid, "by": unsaid}}, "key_facts": items(o{"by": unsaid, "was_by": unsaid, "earlier_by": noEntry, "lineage": noEntry, "ruled": no}), "decisions": items(o{"by": unsaid, "was_by": unsaid, "earlier_by": noEntry, "lineage": noEntry, "ruled": no}),
			"memory": items(o{"pinned_by": unsaid}), "omissions": items(o{"important": no, "reason": o{"not": o{"const": string(envelope.OverShare)}}}),
			"gaps": items(o{"reason": o{"not": o{"const": string(envelope.GapReplaced)}}}), "history": items(o{"recorded": no}), "dropped": noEntry,
			"text_by": o{"properties": o{"ask": unsaid, "state": unsaid, "data": unsaid, "conversation_summary": unsaid, "open_questions": unsaid, "notes": unsaid}},
		},
	} {
		older := o{"properties": o{"version": o{"pattern": upToMinor(i)}}, "required": []string{"version"}}
		list = append(list, o{"if": older, "then": o{"properties": fields}})
	}
	return list
}

// ranges bound the maximum of each kind of constraint.
func ranges() []any {
	type o = typeschema.Object
	var list []any
	for _, kind := range event.ConstraintKinds.Values() {
		list = append(list, o{
			"if":   o{"properties": o{"kind": o{"const": string(kind)}}, "required": []string{"kind"}},
			"then": o{"properties": o{"max": between(kind.Range())}},
		})
	}
	return list
}

func object(t reflect.Type) (typeschema.Object, error) {
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
	if t == reflect.TypeFor[envelope.Omission]() { // it names one part, or counts several
		def["if"] = typeschema.Object{"properties": typeschema.Object{"id": typeschema.Object{"minLength": 1}}, "required": []string{"id"}}
		def["then"] = typeschema.Object{"properties": typeschema.Object{"count": typeschema.Object{"maximum": 1}}}
	}
	if t == reflect.TypeFor[envelope.Constraint]() {
		def["allOf"] = ranges()
	}
	if required != nil {
		def["required"] = required
	}
	return def, nil
}
