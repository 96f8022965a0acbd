package configfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Field is a member of an object or table. Its value is a string, a number, a bool, a list of strings, an Object or a
// List.
type Field struct {
	Name  string
	Value any
}

// Object is a value with members, in order.
type Object []Field

// List is a list of values.
type List []any

// scalar is a value without parts, as JSON.
func scalar(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// parts are the members or elements of a value; ok is false for other values.
func parts(v any) (list []Field, object, ok bool) {
	switch v := v.(type) {
	case Object:
		return v, true, true
	case List:
		for _, e := range v {
			list = append(list, Field{Value: e})
		}
		return list, false, true
	case []string:
		for _, e := range v {
			list = append(list, Field{Value: e})
		}
		return list, false, true
	}
	return nil, false, false
}

// render writes a value as JSON. nl is the line end with the current indentation, and unit is one level of indentation; with an empty nl
// the value is written on one line. Lists of strings always are.
func render(v any, nl, unit string) string {
	list, object, ok := parts(v)
	if !ok {
		return scalar(v)
	}
	first, last := "[", "]"
	if object {
		first, last = "{", "}"
	}
	if _, words := v.([]string); words {
		nl = ""
	}
	var b strings.Builder
	b.WriteString(first)
	for i, f := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		switch {
		case nl != "":
			b.WriteString(nl + unit)
		case i > 0:
			b.WriteByte(' ')
		}
		inner := nl
		if nl != "" {
			inner += unit
		}
		if object {
			b.WriteString(scalar(f.Name) + ": ")
		}
		b.WriteString(render(f.Value, inner, unit))
	}
	if len(list) > 0 && nl != "" {
		b.WriteString(nl)
	}
	b.WriteString(last)
	return b.String()
}

// means reports whether JSON without comments is equal to a value.
func means(source string, v any) bool {
	var have, want any
	return json.Unmarshal([]byte(source), &have) == nil &&
		json.Unmarshal([]byte(render(v, "", "")), &want) == nil && reflect.DeepEqual(have, want)
}

// edit replaces a part of a text.
type edit struct {
	from, to int
	text     string
}

// apply applies edits, which are in order and do not overlap.
func apply(text string, edits []edit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// lineOf is the line number of an offset, from 1.
func lineOf(text string, at int) int { return 1 + strings.Count(text[:min(at, len(text))], "\n") }

func broken(text string, at int, what string) error {
	return fmt.Errorf("line %d: %s", lineOf(text, at), what)
}
