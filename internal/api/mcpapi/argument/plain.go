package argument

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// plainly returns the arguments as their sender means them. Models that must fill every field write null, "", [] or {} for what they would
// omit, so none of these is ever a value, unless the field has the tag `empty:"kept"`; nor is default, where a value is one of a closed set. Some
// write 45.0 or "45" for 45, "0.5" for 0.5, "45s" for a wait of 45 seconds, "true" for true, JSON or a list as its text, agent/ann for the agent ann, or a
// value of a closed set in capitals. What is none of these is left for the decoder to judge.
func plainly(b json.RawMessage, t reflect.Type) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(b, &given) != nil || given == nil {
		return b
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		value, there := given[name]
		if name == "" || !there {
			continue
		}
		value = listed(f.Type, bytes.TrimSpace(value))
		if optional := options != ""; optional && Blank(value) && f.Tag.Get("empty") != "kept" {
			delete(given, name)
			continue
		}
		value = meant(f, name, value)
		if string(value) == `"`+neutral+`"` && hasNeutral(f) {
			delete(given, name)
			continue
		}
		given[name] = value
	}
	out, err := json.Marshal(given)
	if err != nil {
		return b
	}
	return out
}

// Absent reports whether a value is no value at all: none, null or "".
func Absent(value json.RawMessage) bool {
	text := string(bytes.TrimSpace(value))
	return text == "" || text == "null" || text == `""`
}

// Blank reports whether a value is what models fill in for an argument that they would omit.
func Blank(value json.RawMessage) bool {
	switch text := string(bytes.TrimSpace(value)); {
	case Absent(value):
		return true
	case len(text) > 1 && (text[0] == '[' || text[0] == '{'):
		return strings.TrimSpace(text[1:len(text)-1]) == ""
	}
	return false
}

// meant returns the value of one field as its sender means it.
func meant(f reflect.StructField, name string, value json.RawMessage) json.RawMessage {
	kind := f.Type.Kind()
	if kind == reflect.Pointer {
		kind = f.Type.Elem().Kind()
	}
	switch {
	case kind >= reflect.Int && kind <= reflect.Uint64:
		return whole(name, value)
	case kind == reflect.Float64:
		return number(value)
	case kind == reflect.Bool && (string(value) == `"true"` || string(value) == `"false"`):
		return bytes.Trim(value, `"`)
	case f.Type == reflect.TypeFor[json.RawMessage]() && f.Tag.Get("empty") != "kept":
		return Written(value, nil)
	case len(choices(f)) > 0:
		return choice(f, value)
	}
	switch name {
	case "to", "from", "approver", "agent", "route", "stuck":
		return prefixed.ReplaceAll(value, []byte(`$1"`))
	}
	return value
}

// prefixed matches the principal of an agent, or each of a list.
var prefixed = regexp.MustCompile(`(^|[\[,]\s*)"agent/`)

// exact bounds the floating-point numbers that stand for one integer only.
const exact = 1 << 53

// whole returns a number such as 45.0, 4.5e1 or "45" as an integer, and all else as it is. A wait may be a duration, such as "45s".
func whole(name string, value json.RawMessage) json.RawMessage {
	text := string(value)
	if inside, err := strconv.Unquote(text); err == nil && text[0] == '"' {
		if d, err := time.ParseDuration(inside); err == nil && name == "wait" && d%time.Second == 0 {
			return strconv.AppendInt(nil, int64(d/time.Second), 10)
		}
		text = string(number(value))
		if text[0] == '"' {
			return value
		}
	}
	if !strings.ContainsAny(text, ".eE") {
		return json.RawMessage(text)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > exact {
		return value
	}
	return strconv.AppendInt(nil, int64(n), 10)
}

// number returns a number that was written into a string, such as "0.5", as that number, and all else as it is.
func number(value json.RawMessage) json.RawMessage {
	inside, err := strconv.Unquote(string(value))
	if err != nil || value[0] != '"' {
		return value
	}
	if _, err := strconv.ParseFloat(inside, 64); err != nil || !json.Valid([]byte(inside)) {
		return value
	}
	return json.RawMessage(inside)
}

// Written returns JSON that was written into a string as that JSON, and all else as it is. Without a schema it is only JSON if it is an object or a
// list; with one, if it is of a type that the schema names and strings are not.
func Written(value json.RawMessage, schema json.RawMessage) json.RawMessage {
	var inside string
	if json.Unmarshal(value, &inside) != nil || !json.Valid([]byte(inside)) {
		return value
	}
	var expected struct{ Type any }
	_ = json.Unmarshal(schema, &expected) // one that is no object names no type
	types, several := expected.Type.([]any)
	if !several && expected.Type != nil {
		types = []any{expected.Type}
	}
	nested := strings.ContainsAny(strings.TrimSpace(inside)[:1], "{[")
	if slices.Contains(types, any("string")) || len(types) == 0 && !nested {
		return value
	}
	return json.RawMessage(inside)
}

// listed returns a list that was written into a string as that list, if the field takes it, and all else as it is.
func listed(t reflect.Type, value json.RawMessage) json.RawMessage {
	var inside string
	if t.Kind() != reflect.Slice || t == reflect.TypeFor[json.RawMessage]() || json.Unmarshal(value, &inside) != nil {
		return value
	}
	if !strings.HasPrefix(strings.TrimSpace(inside), "[") || json.Unmarshal([]byte(inside), reflect.New(t).Interface()) != nil {
		return value
	}
	return json.RawMessage(strings.TrimSpace(inside))
}

// choice returns a value of the closed set of a field that differs from it in case, or has spaces or hyphens for underscores, as that value.
func choice(f reflect.StructField, value json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return value
	}
	plain := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(text)))
	if !slices.Contains(choices(f), plain) && (plain != neutral || !hasNeutral(f)) {
		return value
	}
	return json.RawMessage(strconv.Quote(plain))
}
