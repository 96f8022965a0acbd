package fastjson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

var (
	// reading is the behaviour of encoding/json but for its errors, which take time to imitate.
	reading = jsonv2.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))
	// writing leaves invalid UTF-8 to encoding/json, which escapes the character that replaces it.
	writing  = jsonv2.JoinOptions(reading, jsontext.AllowInvalidUTF8(false))
	withHTML = jsonv2.JoinOptions(writing, jsontext.EscapeForHTML(false))
)

// Unmarshal is [json.Unmarshal].
func Unmarshal(data []byte, v any) error {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() || !usual(p.Type().Elem()) || !p.Elem().IsZero() {
		return json.Unmarshal(data, v)
	}
	if jsonv2.Unmarshal(data, v, reading) == nil {
		return nil
	}
	p.Elem().SetZero()
	return json.Unmarshal(data, v)
}

// Marshal is [json.Marshal].
func Marshal(v any) ([]byte, error) {
	if usual(reflect.TypeOf(v)) {
		if b, err := jsonv2.Marshal(v, writing); err == nil {
			return b, nil
		}
	}
	return json.Marshal(v)
}

// separator is the beginning of a line or paragraph separator that is escaped: encoding/json leaves those in JSON that is there already, such as a
// [json.RawMessage], as they are.
var separator = []byte(`\u202`)

// Encode appends the JSON of v to b as a [json.Encoder] that does not escape HTML writes it, without the newline. After an error b
// is as it was before.
func Encode(b *bytes.Buffer, v any) error {
	n := b.Len()
	if usual(reflect.TypeOf(v)) {
		if jsonv2.MarshalWrite(b, v, withHTML) == nil && !bytes.Contains(b.Bytes()[n:], separator) {
			return nil
		}
		b.Truncate(n)
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	return nil
}

// known has whether each type that was asked for is usual.
var known sync.Map

// usual reports whether both implementations treat values of a type in the same way. Interfaces may hold anything, and [json.Number] is a number to
// encoding/json alone.
func usual(t reflect.Type) bool {
	if t == nil {
		return false
	}
	is, ok := known.Load(t)
	if !ok {
		is, _ = known.LoadOrStore(t, usualWithin(t, map[reflect.Type]bool{}))
	}
	return is == true
}

func usualWithin(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return false
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return usualWithin(t.Elem(), seen)
	case reflect.Map:
		return usualWithin(t.Key(), seen) && usualWithin(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); (f.IsExported() || f.Anonymous) && !usualWithin(f.Type, seen) {
				return false
			}
		}
		return true
	default:
		return t != reflect.TypeFor[json.Number]()
	}
}
