package policy

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// place is where something is in a file, from 1.
type place struct {
	line, column int
	style        yaml.Style
}

// places is where the values of a file are, by path.
type places map[string]place

// reader reads YAML into Go values and remembers where each was. What does not fit is a problem.
type reader struct {
	file     string
	places   places
	problems Problems
}

// sayAt notes a problem with what is at a path, or with the nearest that is there.
func (r *reader) sayAt(path, hint, format string, args ...any) {
	at, ok := r.places[path]
	for up := path; !ok && up != ""; {
		up = up[:max(strings.LastIndexAny(up, ".["), 0)]
		at, ok = r.places[up]
	}
	r.say(at, path, hint, format, args...)
}

func (r *reader) say(at place, path, hint, format string, args ...any) {
	r.problems = append(r.problems, Problem{
		File: r.file, Line: max(at.line, 1), Column: max(at.column, 1), Path: path, Reason: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// refused notes a refusal of what is at a path.
func (r *reader) refused(path string, err error) {
	if why, ok := refusal.As(err); ok {
		r.sayAt(path, why.Hint, "%s", why.Message)
	} else if err != nil {
		r.sayAt(path, "", "%s", err)
	}
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?`)

// document reads the one document of a text into v, a pointer to a struct.
func (r *reader) document(text []byte, v any) {
	if len(text) > MaxFile {
		r.say(place{}, "", fmt.Sprintf("at most %d bytes", MaxFile), "the file has %d bytes", len(text))
		return
	}
	if !utf8.Valid(text) {
		r.say(place{}, "", "write the file in UTF-8", "the file is not valid UTF-8")
		return
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	err := dec.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		r.say(place{}, "", "start with version: 1", "the file is empty")
		return
	case err != nil:
		r.syntax(err)
		return
	}
	if err := dec.Decode(&more); err == nil {
		r.say(placeOf(&more), "", "use one document", "the file has more than one document")
		return
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
		return
	}
	r.value(doc.Content[0], reflect.ValueOf(v).Elem(), "")
}

func (r *reader) syntax(err error) {
	text, line := err.Error(), 1
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	r.say(place{line: line}, "", "indent with spaces, and quote what YAML would read otherwise", "this is not YAML: %s", text)
}

func placeOf(n *yaml.Node) place { return place{n.Line, n.Column, n.Style} }

func (r *reader) value(n *yaml.Node, v reflect.Value, path string) {
	r.places[path] = placeOf(n)
	if n.Kind == yaml.AliasNode {
		r.sayAt(path, "write it out", "aliases are not allowed")
		return
	}
	if raw, ok := v.Addr().Interface().(*json.RawMessage); ok {
		r.any(n, raw, path)
		return
	}
	if t, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		switch s, ok := r.scalar(n, path, "a text"); {
		case ok && s == "": // it would be as if it was left out
			r.sayAt(path, "give a text, or leave it out", "the text is empty")
		case ok:
			r.refused(path, t.UnmarshalText([]byte(s)))
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if s, ok := v.Addr().Interface().(interface{ Shorthand(s string) bool }); ok && n.Kind == yaml.ScalarNode && s.Shorthand(n.Value) {
			return
		}
		r.fields(n, v, path)
	case reflect.Map:
		r.entries(n, v, path)
	case reflect.Slice:
		r.list(n, v, path)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.value(n, v.Elem(), path)
	default:
		r.plain(n, v, path)
	}
}

// any reads what may be any JSON.
func (r *reader) any(n *yaml.Node, raw *json.RawMessage, path string) {
	var v any
	err := n.Decode(&v)
	if err == nil {
		*raw, err = json.Marshal(v)
	}
	if err != nil {
		r.sayAt(path, "use texts as keys, and numbers that JSON has", "this cannot be written as JSON")
	}
}

// plain reads a text or a number.
func (r *reader) plain(n *yaml.Node, v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.String:
		if s, ok := r.scalar(n, path, "a text"); ok {
			v.SetString(s)
		}
	case reflect.Int, reflect.Int64:
		var i int64
		if s, ok := r.scalar(n, path, "a whole number"); ok {
			if n.Tag != "!!int" || n.Decode(&i) != nil {
				r.sayAt(path, "", "%.80q is not a whole number", s)
			}
			v.SetInt(i)
		}
	case reflect.Float64:
		var f float64
		if s, ok := r.scalar(n, path, "a number"); ok {
			if n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&f) != nil {
				r.sayAt(path, "", "%.80q is not a number", s)
			}
			v.SetFloat(f)
		}
	default:
		r.sayAt(path, "", "this cannot be read")
	}
}

func (r *reader) scalar(n *yaml.Node, path, what string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.sayAt(path, "give "+what+", or leave it out", "here must be %s, not %s", what, sortOf(n))
		return "", false
	}
	return n.Value, true
}

func sortOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	}
	return fmt.Sprintf("%.80q", n.Value)
}

// keys calls fn with each key of a mapping and its value, once.
func (r *reader) keys(n *yaml.Node, path string, fn func(key, value *yaml.Node, path string)) {
	if n.Kind != yaml.MappingNode {
		r.sayAt(path, "write key: value", "here must be a mapping, not %s", sortOf(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := join(path, key.Value)
		switch {
		case key.Kind != yaml.ScalarNode:
			r.say(placeOf(key), path, "use plain words as keys", "a key must be a text, not %s", sortOf(key))
		case seen[key.Value]:
			r.say(placeOf(key), at, "name it once", "%.80q is there twice", key.Value)
		default:
			seen[key.Value] = true
			fn(key, n.Content[i+1], at)
		}
	}
}

func (r *reader) fields(n *yaml.Node, v reflect.Value, path string) {
	known := fieldsOf(v.Type())
	given := map[string]bool{}
	r.keys(n, path, func(key, value *yaml.Node, at string) {
		i := slices.IndexFunc(known, func(f reflect.StructField) bool { return f.Tag.Get("yaml") == key.Value })
		if i < 0 {
			r.say(placeOf(key), at, "use one of "+strings.Join(namesOf(known), ", "), "there is no field %.80q here", key.Value)
			return
		}
		given[key.Value] = true
		r.value(value, v.FieldByIndex(known[i].Index), at)
	})
	for _, f := range known {
		if name := f.Tag.Get("yaml"); f.Tag.Get("need") != "" && !given[name] && n.Kind == yaml.MappingNode {
			r.sayAt(path, "add it", "%s is missing", name)
		}
	}
}

// fieldsOf lists the fields of a struct that a file may give.
func fieldsOf(t reflect.Type) []reflect.StructField {
	var list []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("yaml"); name != "" && name != "-" {
			list = append(list, f)
		}
	}
	return list
}

func namesOf(fields []reflect.StructField) []string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.Tag.Get("yaml")
	}
	return list
}

func (r *reader) entries(n *yaml.Node, v reflect.Value, path string) {
	v.Set(reflect.MakeMap(v.Type()))
	r.keys(n, path, func(key, value *yaml.Node, at string) {
		one := reflect.New(v.Type().Elem()).Elem()
		r.value(value, one, at)
		r.places[at+"#key"] = placeOf(key)
		v.SetMapIndex(reflect.ValueOf(key.Value), one)
	})
}

func (r *reader) list(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		r.sayAt(path, "write a list, such as [one, two]", "here must be a list, not %s", sortOf(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, c := range n.Content {
		r.value(c, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
