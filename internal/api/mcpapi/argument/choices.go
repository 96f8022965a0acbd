package argument

import (
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
)

// closedSets are the types of arguments that have a fixed number of values.
var closedSets = map[reflect.Type][]string{
	reflect.TypeFor[client.Kind]():        texts(client.Kinds()),
	reflect.TypeFor[client.FanInMode]():   texts(client.FanInModes()),
	reflect.TypeFor[client.Reason]():      texts(client.Reasons()),
	reflect.TypeFor[client.Rejection]():   texts(client.Rejections()),
	reflect.TypeFor[client.Priority]():    texts(client.Priorities()),
	reflect.TypeFor[client.Readiness]():   texts(client.Readinesses()),
	reflect.TypeFor[client.Scope]():       texts(client.Scopes()),
	reflect.TypeFor[client.SpeakerRole](): texts(client.SpeakerRoles()),
}

// namedSets are the closed sets of texts that have no type of their own, by the name that a `values` tag gives.
var namedSets = map[string][]string{"strategies": client.Strategies(), "agent kinds": client.AgentKinds(), "severities": admin.Severities()}

// inDescriptions are the lists that a description can name, for texts that an enum cannot describe.
var inDescriptions = strings.NewReplacer("{constraint kinds}", strings.Join(texts(client.ConstraintKinds()), ", "))

func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// choices lists the values that a field may have, or nothing if any will do: those of its type without those of its `except` tag,
// which a tool does not take, those of the set that its `values` tag names, or those of its `enum` tag, for a set that only the tool has.
func choices(f reflect.StructField) []string {
	if own := f.Tag.Get("enum"); own != "" {
		return strings.Split(own, ",")
	}
	if set := f.Tag.Get("values"); set != "" {
		return namedSets[set]
	}
	except := strings.Split(f.Tag.Get("except"), ",")
	return slices.DeleteFunc(slices.Clone(closedSets[f.Type]), func(v string) bool { return slices.Contains(except, v) })
}

// neutral is the value of an optional argument of a closed set that counts as omitted, as "", 0, false, [] and {} do of other types: a model that must
// fill every field, and may not write null, has to write one of the set. Not every model API takes "" as a value of a set.
const neutral = "default"

// hasNeutral reports whether a field is optional and has a closed set of values.
func hasNeutral(f reflect.StructField) bool {
	_, optional, _ := strings.Cut(f.Tag.Get("json"), ",")
	return optional != "" && len(choices(f)) > 0
}

// describeChoices lists the values of fields in the schema of their struct.
func describeChoices(s *jsonschema.Schema, t reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		p := s.Properties[fieldName(f)]
		if p == nil {
			continue
		}
		p.Description = inDescriptions.Replace(p.Description)
		if hasNeutral(f) {
			p.Enum = append(p.Enum, neutral)
		}
		for _, v := range choices(f) {
			p.Enum = append(p.Enum, v)
		}
	}
}
