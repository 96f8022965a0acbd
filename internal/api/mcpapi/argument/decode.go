package argument

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/shape"
)

// List is a list of strings. A single string counts as a list of one, because models write that.
type List []string

// UnmarshalJSON accepts a list of strings, or a string.
func (l *List) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*l = make(List, 1)
		return json.Unmarshal(b, &(*l)[0])
	}
	if err := json.Unmarshal(b, (*[]string)(l)); err != nil {
		return err
	}
	if slices.ContainsFunc(*l, func(s string) bool { return strings.TrimSpace(s) == "" }) {
		return errors.New("one of the list is empty: give each a text, or omit it")
	}
	return nil
}

// Restriction is a list that may be empty on purpose: what is allowed, or what is still open. Since models write an empty list for what they would
// omit, "none", alone, is the empty one.
type Restriction List

// UnmarshalJSON accepts what [List] does. It refuses none beside other values, which would contradict them.
func (r *Restriction) UnmarshalJSON(b []byte) error {
	if err := (*List)(r).UnmarshalJSON(b); err != nil {
		return err
	}
	if len(*r) > 1 && slices.ContainsFunc(*r, isNone) {
		return errors.New("none is not a value beside others: give none alone, or omit it")
	}
	return nil
}

func isNone(s string) bool { return strings.EqualFold(s, "none") }

// Values are those of the list: nil, which changes nothing, if it is empty, and no value at all if it is "none".
func (r Restriction) Values() []string {
	switch {
	case len(r) == 0:
		return nil
	case isNone(r[0]):
		return []string{}
	}
	return r
}

// Points are facts or decisions. A string counts as a point with that text.
type Points []client.Point

// givenPoint is a fact or a decision as a model writes it.
type givenPoint struct {
	ID         string   `json:"id,omitempty"`
	Text       string   `json:"text"`
	Supersedes string   `json:"supersedes,omitempty"`
	Reasoning  string   `json:"reasoning,omitempty"`
	Pinned     bool     `json:"pinned,omitempty"`
	Importance *float64 `json:"importance,omitempty"`
}

// UnmarshalJSON accepts a list of objects or strings, or one of either.
func (p *Points) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '[' {
		b = slices.Concat([]byte("["), b, []byte("]"))
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return errors.New(`give a list such as [{"text": "..."}]`)
	}
	for _, item := range raw {
		var point givenPoint
		if len(item) > 0 && item[0] == '"' {
			if err := json.Unmarshal(item, &point.Text); err != nil {
				return err
			}
		} else if strictly(plainly(item, reflect.TypeFor[givenPoint]()), &point) != nil {
			return errors.New(`each fact and decision is a text, or an object such as {"text": "...", "supersedes": "id of the one it replaces", "reasoning": "why"}; it may have id, pinned and importance, too`)
		}
		one := client.Point{ID: point.ID, Text: point.Text, Supersedes: point.Supersedes, Reasoning: point.Reasoning, Pinned: point.Pinned}
		if point.Importance != nil {
			one.Importance = *point.Importance
		}
		*p = append(*p, one)
	}
	return nil
}

func strictly(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("there is more than one JSON value")
	}
	return nil
}

// Server is what [Decode] asks the server, if the arguments need it.
type Server struct {
	// Now is the time by which a [Moment] that is given as a duration is a time: that of the server, which will judge it.
	Now func() (time.Time, error)
	// Handoff fails if the caller sees no handoff of the id.
	Handoff func(id string) error
}

// Decode reads the arguments of a tool, which may be empty or null. Invalid arguments are a *client.Error with the code client.Invalid and a
// message that names the argument and tells a model how to fix it. Fields with the tag `set:"all"` are refused unless full.
func Decode[In any](tool string, b json.RawMessage, full bool, ask Server) (In, error) {
	var in In
	if given := bytes.TrimSpace(b); len(given) == 0 || string(given) == "null" {
		b = json.RawMessage("{}")
	}
	if err := shape.Check(b); err != nil {
		return in, Invalid("the arguments of %s are not valid: their JSON %s", tool, err)
	}
	b = plainly(b, reflect.TypeFor[In]())
	if err := strictly(b, &in); err != nil {
		if wrong := wrongField(b, reflect.TypeFor[In]()); wrong != nil {
			return in, wrong
		}
		return in, fault(tool, err, fieldsOf(reflect.TypeFor[In](), full))
	}
	if err := check(tool, b, reflect.TypeFor[In](), full); err != nil {
		return in, err
	}
	if err := toTasks(reflect.ValueOf(&in).Elem(), ask.Handoff); err != nil {
		return in, err
	}
	err := settle(reflect.ValueOf(&in).Elem(), ask.Now)
	return in, err
}

// check refuses missing required fields, and values that are not in the enum of their field.
func check(tool string, b json.RawMessage, t reflect.Type, full bool) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(b, &given); err != nil || given == nil {
		return Invalid("give the arguments of %s as a JSON object", tool)
	}
	for name := range given { // the decoder ignores the case of names
		if fields := fieldsOf(t, full); !slices.Contains(fields, name) {
			return unknown(tool, name, fields)
		}
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" { // the fields of an embedded struct are visited on their own
			continue
		}
		value, there := given[name]
		if options == "" && (!there || Absent(value)) {
			if about := cmp.Or(f.Tag.Get("jsonschema"), strings.Join(choices(f), ", ")); about != "" {
				name += ": " + inDescriptions.Replace(about)
			}
			return Invalid("%s needs %s", tool, name)
		}
		if values := choices(f); there && len(values) > 0 {
			var text string
			if json.Unmarshal(value, &text) == nil && text != "" && !slices.Contains(values, text) {
				return Invalid("%s is %.40q; use one of: %s", name, text, strings.Join(values, ", "))
			}
		}
	}
	return nil
}

// fault converts an error of the decoder to a refusal that says how to fix the arguments.
func fault(tool string, err error, fields []string) error {
	const notThere = "json: unknown field "
	var typed *json.UnmarshalTypeError
	text := err.Error()
	switch {
	case strings.HasPrefix(text, notThere):
		return unknown(tool, strings.Trim(strings.TrimPrefix(text, notThere), `"`), fields)
	case errors.As(err, &typed):
		return Invalid("give the arguments of %s as a JSON object, not %s", tool, typed.Value)
	}
	return Invalid("the arguments of %s cannot be read: %s", tool, strings.TrimPrefix(text, "json: "))
}

// wrongField refuses, by its name, the first argument that its field cannot take; nil if there is none. The fields are tried one by one, since
// errors of the decoder name fields of Go, or nothing.
func wrongField(b json.RawMessage, t reflect.Type) error {
	var given map[string]json.RawMessage
	_ = json.Unmarshal(b, &given) // what is no object has no arguments
	for _, f := range reflect.VisibleFields(t) {
		name := fieldName(f)
		value, there := given[name]
		if name == "" || !there {
			continue
		}
		err := strictly(value, reflect.New(f.Type).Interface())
		var typed *json.UnmarshalTypeError
		var time wrongTimeError
		switch {
		case err == nil:
		case errors.As(err, &time):
			return Invalid("%s is %s", name, time)
		case errors.As(err, &typed):
			if typed.Field != "" {
				name += "." + typed.Field
			}
			if about := inDescriptions.Replace(f.Tag.Get("jsonschema")); f.Type.Kind() == reflect.Slice && typed.Type.Kind() == reflect.String {
				return Invalid("%s must be a list of strings, and one of them is of the type %s%s", name, typed.Value, strings.TrimSuffix(": "+about, ": "))
			}
			return Invalid("%s must be %s, not %s", name, plain(typed.Type), strings.TrimPrefix(typed.Value, "number "))
		default:
			return Invalid("%s cannot be read: %s", name, strings.TrimPrefix(err.Error(), "json: "))
		}
	}
	return nil
}

// unknown refuses a field that the tool does not have.
func unknown(tool, name string, fields []string) error {
	if slices.Contains([]string{"from", "agent", "by", "author", "actor", "requester"}, name) && !slices.Contains(fields, name) {
		return Invalid("%s takes no %.40q: who you are comes from your token", tool, name)
	}
	return Invalid("%s takes no %.40q; it takes: %s", tool, name, strings.Join(fields, ", "))
}

// plain names a type in JSON terms.
func plain(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list of strings"
	case reflect.Struct:
		return "an object"
	case reflect.Float64:
		return "a number such as 0.5"
	default:
		return "a whole number such as 45"
	}
}

func fieldsOf(t reflect.Type, full bool) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name := fieldName(f); name != "" && (full || f.Tag.Get(setTag) == "") {
			names = append(names, name)
		}
	}
	return names
}

// Invalid returns a refusal with the code client.Invalid.
func Invalid(format string, args ...any) error {
	return &client.Error{Code: client.Invalid, Message: fmt.Sprintf(format, args...)}
}
