package caller

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Digest is what two requests under one key must have in common: the verb, and all that the input says. How it was
// spelled does not count, neither the order of its fields nor white space, except within JSON that is kept as it comes:
// there white space alone does not. An input may hold what JSON can.
func (c Caller) Digest(verb string, in any) (string, error) {
	if err := c.CheckKey(); err != nil || c.Key == "" {
		return "", err
	}
	buffer, _ := buffers.Get().(*[]byte)
	v := reflect.ValueOf(in)
	if v.Kind() == reflect.Pointer { // it asks for what it points to
		v = v.Elem()
	}
	b, err := appendValue(appendText((*buffer)[:0], verb), v)
	if err != nil {
		return "", refusal.New(refusal.Invalid, "send valid JSON", "the request cannot be read: %s", err)
	}
	request := digest(b)
	if cap(b) <= maxRoom {
		*buffer = b
		buffers.Put(buffer)
	}
	return request, nil
}

// buffers hold requests that are written to be digested.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// fence is the field of the epoch that a call is made under. It says what the caller knew, not what it asks for: who repeats a
// call after ownership has moved may know better, and asks for the same.
const fence = "epoch"

// maxRoom is the most bytes that are kept for the next request.
const maxRoom = 64 << 10

// appendValue writes a value so that no two values look the same. What is zero in a struct is left out.
func appendValue(b []byte, v reflect.Value) ([]byte, error) {
	switch v.Kind() {
	case reflect.Invalid:
		return append(b, '0'), nil
	case reflect.String:
		return appendText(append(b, 's'), v.String()), nil
	case reflect.Bool:
		if v.Bool() {
			return append(b, 't'), nil
		}
		return append(b, 'f'), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(append(b, 'i'), v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(append(b, 'u'), v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return binary.BigEndian.AppendUint64(append(b, 'd'), math.Float64bits(v.Float())), nil
	case reflect.Pointer:
		return appendValue(append(b, '*'), v.Elem())
	case reflect.Slice:
		return appendList(b, v)
	case reflect.Struct:
		return appendStruct(b, v)
	case reflect.Interface, reflect.Map:
		text, err := json.Marshal(v.Interface()) // keys in order
		return appendText(append(b, 'j'), string(text)), err
	default:
		return b, fmt.Errorf("a %s cannot be compared", v.Kind())
	}
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendList(b []byte, v reflect.Value) ([]byte, error) {
	if v.Type() == rawType {
		return appendRaw(append(b, 'r'), v.Bytes()), nil
	}
	b = binary.AppendUvarint(append(b, 'l'), uint64(v.Len())) //nolint:gosec // not negative
	for i := range v.Len() {
		var err error
		if b, err = appendValue(b, v.Index(i)); err != nil {
			return b, err
		}
	}
	return b, nil
}

var (
	rawType  = reflect.TypeFor[json.RawMessage]()
	timeType = reflect.TypeFor[time.Time]()
)

// appendRaw writes JSON without its white space, and its length.
func appendRaw(b, raw []byte) []byte {
	before := len(b)
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case ' ', '\t', '\n', '\r':
		case '"':
			end := textEnd(raw, i)
			b = append(b, raw[i:end]...)
			i = end - 1
		default:
			b = append(b, raw[i])
		}
	}
	return binary.BigEndian.AppendUint64(b, uint64(len(b)-before)) //nolint:gosec // not negative
}

// textEnd is where the text ends that begins at i, its quotes included.
func textEnd(raw []byte, i int) int {
	for i++; i < len(raw); i += 2 {
		quote := bytes.IndexByte(raw[i:], '"')
		if quote < 0 {
			break
		}
		escape := bytes.IndexByte(raw[i:i+quote], '\\')
		if escape < 0 {
			return i + quote + 1
		}
		i += escape
	}
	return len(raw)
}

// field is a field of a struct as JSON knows it.
type field struct {
	index int
	name  string
}

var fieldsOf sync.Map // of a reflect.Type: []field

// fields are those of a type that JSON has, in order of their names. A type that keeps something to itself has none: nobody
// could tell two of its values apart.
func fields(t reflect.Type) (list []field, err error) {
	if have, ok := fieldsOf.Load(t); ok {
		list, _ = have.([]field)
		return list, nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() && !f.Anonymous {
			return nil, fmt.Errorf("a %s cannot be compared", t)
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		if name != "-" && name != fence {
			list = append(list, field{i, name})
		}
	}
	slices.SortFunc(list, func(a, b field) int { return strings.Compare(a.name, b.name) })
	fieldsOf.Store(t, list)
	return list, nil
}

func appendStruct(b []byte, v reflect.Value) ([]byte, error) {
	if v.Type() == timeType {
		t, _ := v.Interface().(time.Time)
		return binary.AppendUvarint(binary.AppendVarint(append(b, 'z'), t.Unix()), uint64(t.Nanosecond())), nil //nolint:gosec // not negative
	}
	list, err := fields(v.Type())
	if err != nil {
		return b, err
	}
	b = append(b, '{')
	for _, f := range list {
		part := v.Field(f.index)
		if part.IsZero() {
			continue
		}
		if b, err = appendValue(appendText(b, f.name), part); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}
