package argument

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/shape"
)

// List is some strings; one alone is taken for a list of one, since models write that.
type List []string

// UnmarshalJSON takes a list of strings, or a string.
func (l *List) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*l = make(List, 1)
		return json.Unmarshal(b, &(*l)[0])
	}
	return json.Unmarshal(b, (*[]string)(l))
}

// Points are facts or decisions; a string alone is taken for a point's text.
type Points []client.Point

// UnmarshalJSON takes a list of objects, or of strings, or one string.
func (p *Points) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		b = slices.Concat([]byte("["), b, []byte("]"))
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return errors.New(`give a list such as [{"text": "..."}]`)
	}
	for _, item := range raw {
		var point struct {
			Text       string `json:"text"`
			Supersedes string `json:"supersedes"`
		}
		if len(item) > 0 && item[0] == '"' {
			if err := json.Unmarshal(item, &point.Text); err != nil {
				return err
			}
		} else if strictly(item, &point) != nil {
			return errors.New(`each of facts and decisions has text, and if it replaces another that one's id as supersedes: [{"text": "..."}]`)
		}
		*p = append(*p, client.Point{Text: point.Text, Supersedes: point.Supersedes})
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

// Decode reads a tool's arguments, which may be left out. What is wrong with them is a *client.Error with the code
// client.Invalid, in words that a model can mend them by.
func Decode[In any](tool string, b json.RawMessage) (In, error) {
	var in In
	if len(bytes.TrimSpace(b)) == 0 {
		b = json.RawMessage("{}")
	}
	if err := shape.Check(b); err != nil {
		return in, Invalid("give the arguments of %s otherwise: their JSON %s", tool, err)
	}
	if err := strictly(b, &in); err != nil {
		return in, fault(tool, err, fieldsOf(reflect.TypeFor[In]()))
	}
	return in, check(tool, b, reflect.TypeFor[In]())
}

// check looks for fields that are needed, and for values outside a closed set.
func check(tool string, b json.RawMessage, t reflect.Type) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(b, &given); err != nil || given == nil {
		return Invalid("give the arguments of %s as a JSON object", tool)
	}
	for name := range given { // the decoder takes IDs for ids
		if fields := fieldsOf(t); !slices.Contains(fields, name) {
			return unknown(tool, name, fields)
		}
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" { // what is embedded is among the fields itself
			continue
		}
		value, there := given[name]
		if !there && options == "" {
			if about := f.Tag.Get("jsonschema"); about != "" {
				name += ": " + about
			}
			return Invalid("%s needs %s", tool, name)
		}
		if enum := f.Tag.Get("enum"); there && enum != "" {
			var text string
			if json.Unmarshal(value, &text) == nil && text != "" && !slices.Contains(strings.Split(enum, ","), text) {
				return Invalid("%s is %.40q; use one of: %s", name, text, strings.ReplaceAll(enum, ",", ", "))
			}
		}
	}
	return nil
}

// fault turns what the decoder says into what is to be done.
func fault(tool string, err error, fields []string) error {
	const notThere = "json: unknown field "
	var typed *json.UnmarshalTypeError
	text := err.Error()
	switch {
	case strings.HasPrefix(text, notThere):
		return unknown(tool, strings.Trim(strings.TrimPrefix(text, notThere), `"`), fields)
	case errors.As(err, &typed) && typed.Field == "":
		return Invalid("give the arguments of %s as a JSON object, not %s", tool, typed.Value)
	case errors.As(err, &typed):
		return Invalid("%s must be %s, not %s", typed.Field, plain(typed.Type), typed.Value)
	}
	return Invalid("the arguments of %s cannot be read: %s", tool, strings.TrimPrefix(text, "json: "))
}

// unknown is the refusal of a field that a tool has not, or not in that place.
func unknown(tool, name string, fields []string) error {
	if slices.Contains([]string{"from", "agent", "by", "author", "actor", "requester"}, name) && !slices.Contains(fields, name) {
		return Invalid("%s takes no %.40q: who you are comes from your token", tool, name)
	}
	return Invalid("%s takes no %.40q; it takes: %s", tool, name, strings.Join(fields, ", "))
}

// plain is a type as a model knows it.
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
	default:
		return "a number"
	}
}

func fieldsOf(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name := fieldName(f); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Invalid is the refusal of arguments that do not go together; it says how they do.
func Invalid(format string, args ...any) error {
	return &client.Error{Code: client.Invalid, Message: fmt.Sprintf(format, args...)}
}
