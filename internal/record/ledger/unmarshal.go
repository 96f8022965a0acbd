package ledger

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// reader reads the compact JSON at the start of b into a zero value of one type, and returns its length. 0: it does not read that, and encoding/json has to.
type reader func(b []byte, into reflect.Value) int

// unmarshal decodes the JSON of an event, as encoding/json does. Nearly all is as this program writes it, and is read in one pass: each server of a record reads what the others append.
func (t *eventType) unmarshal(data []byte, into reflect.Value) error {
	if t.read != nil && len(data) > 0 && t.read(data, into.Elem()) == len(data) {
		return nil
	}
	into.Elem().SetZero()
	return json.Unmarshal(data, into.Interface())
}

// deepest is how deep a type may be nested for a reader.
const deepest = 8

// readerOf returns the reader of a type; nil: there is none.
func readerOf(t reflect.Type, depth int) reader {
	switch p := reflect.PointerTo(t); {
	case depth > deepest || t == reflect.TypeFor[json.Number]():
		return nil
	case t == reflect.TypeFor[time.Time]():
		return readTime
	case t == reflect.TypeFor[json.RawMessage]():
		return readRaw
	case p.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return nil
	case p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return readText
	}
	switch t.Kind() {
	case reflect.String:
		return readString
	case reflect.Bool:
		return readBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return readInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return readUint
	case reflect.Float32, reflect.Float64:
		return readFloat
	case reflect.Pointer:
		return pointerReader(t, depth)
	case reflect.Slice:
		return sliceReader(t, depth)
	case reflect.Struct:
		return structReader(t, depth)
	default:
		return nil
	}
}

func readString(b []byte, into reflect.Value) int {
	n, err := compactString(b)
	if err != nil {
		return 0
	}
	s := string(b[1 : n-1])
	if strings.IndexByte(s, '\\') >= 0 && json.Unmarshal(b[:n], &s) != nil {
		return 0
	}
	into.SetString(s)
	return n
}

func readText(b []byte, into reflect.Value) int {
	n, err := compactString(b)
	if err != nil || bytes.IndexByte(b[:n], '\\') >= 0 {
		return 0
	}
	if v, ok := into.Addr().Interface().(encoding.TextUnmarshaler); !ok || v.UnmarshalText(b[1:n-1]) != nil {
		return 0
	}
	return n
}

func readTime(b []byte, into reflect.Value) int {
	n, err := compactString(b)
	if err != nil {
		return 0
	}
	if v, ok := into.Addr().Interface().(*time.Time); !ok || v.UnmarshalJSON(b[:n]) != nil {
		return 0
	}
	return n
}

// readRaw copies what is kept as it is, such as an envelope.
func readRaw(b []byte, into reflect.Value) int {
	n, err := compactValue(b, 1)
	if err != nil {
		return 0
	}
	into.SetBytes(bytes.Clone(b[:n]))
	return n
}

func readBool(b []byte, into reflect.Value) int {
	if n, err := literal(b, "true"); err == nil {
		into.SetBool(true)
		return n
	}
	n, _ := literal(b, "false")
	return n
}

func readInt(b []byte, into reflect.Value) int {
	n, _ := compactNumber(b)
	v, err := strconv.ParseInt(string(b[:n]), 10, 64)
	if err != nil || into.OverflowInt(v) {
		return 0
	}
	into.SetInt(v)
	return n
}

func readUint(b []byte, into reflect.Value) int {
	n, _ := compactNumber(b)
	v, err := strconv.ParseUint(string(b[:n]), 10, 64)
	if err != nil || into.OverflowUint(v) {
		return 0
	}
	into.SetUint(v)
	return n
}

func readFloat(b []byte, into reflect.Value) int {
	n, _ := compactNumber(b)
	v, err := strconv.ParseFloat(string(b[:n]), into.Type().Bits())
	if err != nil {
		return 0
	}
	into.SetFloat(v)
	return n
}

// readNull returns the length of null, of which slices and pointers are left nil.
func readNull(b []byte) int {
	n, _ := literal(b, "null")
	return n
}

func pointerReader(t reflect.Type, depth int) reader {
	read := readerOf(t.Elem(), depth+1)
	if read == nil {
		return nil
	}
	return func(b []byte, into reflect.Value) int {
		if n := readNull(b); n > 0 {
			return n
		}
		into.Set(reflect.New(t.Elem()))
		return read(b, into.Elem())
	}
}

func sliceReader(t reflect.Type, depth int) reader {
	read := readerOf(t.Elem(), depth+1)
	if read == nil || t.Elem().Kind() == reflect.Uint8 { // bytes are in base64
		return nil
	}
	return func(b []byte, into reflect.Value) int {
		if n := readNull(b); n > 0 {
			return n
		}
		if len(b) < 2 || b[0] != '[' {
			return 0
		}
		if b[1] == ']' {
			into.Set(reflect.MakeSlice(t, 0, 0))
			return 2
		}
		for at, i := 1, 0; at < len(b); at, i = at+1, i+1 { // at the start of an element; at+1 steps over the comma
			into.Grow(1)
			into.SetLen(i + 1)
			n := read(b[at:], into.Index(i))
			if at += n; n == 0 || at >= len(b) || b[at] != ',' && b[at] != ']' {
				return 0
			}
			if b[at] == ']' {
				return at + 1
			}
		}
		return 0
	}
}

// member is a member of the object of a struct, with its reader or its writer.
type member struct {
	name   string // with its quotes, and the colon
	index  int
	of     reflect.Type
	option string // of its tag
	read   reader
	write  writer
	omit   func(reflect.Value) bool
}

// membersOf returns the members of a struct in the order of its fields; false: it has some that only encoding/json knows.
func membersOf(t reflect.Type) (members []member, ok bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			return nil, false
		case !f.IsExported() || name == "-" && option == "":
			continue
		case strings.Contains(option, "string") || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "":
			return nil, false
		}
		name = `"` + name + `":`
		if slices.ContainsFunc(members, func(m member) bool { return m.name == name }) {
			return nil, false
		}
		members = append(members, member{name: name, index: i, of: f.Type, option: option})
	}
	return members, true
}

// structReader returns the reader of a struct, whose members are read in the order of its fields only: so each is there once.
func structReader(t reflect.Type, depth int) reader {
	members, ok := membersOf(t)
	if !ok {
		return nil
	}
	for i := range members {
		members[i].read = readerOf(members[i].of, depth+1)
	}
	return func(b []byte, into reflect.Value) int {
		if len(b) < 2 || b[0] != '{' {
			return 0
		}
		if b[1] == '}' {
			return 2
		}
		at := 1
		for i := range members {
			m := &members[i]
			if !bytes.HasPrefix(b[at:], []byte(m.name)) {
				continue
			}
			if m.read == nil {
				return 0
			}
			at += len(m.name)
			n := m.read(b[at:], into.Field(m.index))
			if at += n; n == 0 || at >= len(b) {
				return 0
			}
			if b[at] == '}' {
				return at + 1
			}
			if b[at] != ',' {
				return 0
			}
			at++
		}
		return 0
	}
}
