package ledger

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// The data of events is compact JSON of types that are known beforehand. Here it is decoded as encoding/json decodes it, several times as fast: nothing is read twice, and the
// members of an object are expected in their order. Whatever is unusual, such as a member that is unknown, written otherwise or there twice, is left to encoding/json.

// readFunc decodes the value at the start of b into v, which is settable and zero, and returns its length; 0: it is left to encoding/json, and v may have changed.
type readFunc func(b []byte, v reflect.Value) int

// readers are the functions that decode types; nil: of a type that has itself as a part.
type readers map[reflect.Type]readFunc

func (r readers) of(t reflect.Type) readFunc {
	if read, ok := r[t]; ok {
		if read == nil {
			return readOther
		}
		return read
	}
	r[t] = nil
	r[t] = r.ofNew(t)
	return r[t]
}

func (r readers) ofNew(t reflect.Type) readFunc {
	switch p := reflect.PointerTo(t); {
	case t == reflect.TypeFor[time.Time]():
		return readTime
	case t == reflect.TypeFor[json.RawMessage]():
		return readRaw
	case t == reflect.TypeFor[json.Number](), p.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return readOther
	case p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		if t.Name() == "" {
			return readOther
		}
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
		return r.pointer(t)
	case reflect.Slice:
		return r.list(t)
	case reflect.Struct:
		return r.object(t)
	default:
		return readOther
	}
}

// null is the length of a null at the start of b: what it is decoded into stays zero.
func null(b []byte) int {
	if len(b) > 0 && b[0] == 'n' {
		n, _ := literal(b, "null") // 0 for an error
		return n
	}
	return 0
}

// quoted returns the text at the start of b, and its length in b; 0: there is none.
func quoted(b []byte) (text []byte, n int) {
	n, err := compactString(b)
	if err != nil {
		return nil, 0
	}
	if text = b[1 : n-1]; bytes.IndexByte(text, '\\') < 0 {
		return text, n
	}
	var s string
	if json.Unmarshal(b[:n], &s) != nil {
		return nil, 0
	}
	return []byte(s), n
}

func readString(b []byte, v reflect.Value) int {
	if n := null(b); n > 0 {
		return n
	}
	text, n := quoted(b)
	if n > 0 {
		v.SetString(string(text))
	}
	return n
}

func readText(b []byte, v reflect.Value) int {
	if n := null(b); n > 0 {
		return n
	}
	text, n := quoted(b)
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); n == 0 || !ok || u.UnmarshalText(text) != nil {
		return 0
	}
	return n
}

func readTime(b []byte, v reflect.Value) int {
	if n := null(b); n > 0 {
		return n
	}
	n, err := compactString(b)
	if t, ok := v.Addr().Interface().(*time.Time); err != nil || !ok || t.UnmarshalJSON(b[:n]) != nil {
		return 0
	}
	return n
}

// readRaw keeps the JSON, which may be an envelope.
func readRaw(b []byte, v reflect.Value) int {
	n, err := compactValue(b, 1)
	if err != nil {
		return 0
	}
	v.SetBytes(bytes.Clone(b[:n]))
	return n
}

// readOther has encoding/json decode the value alone.
func readOther(b []byte, v reflect.Value) int {
	n, err := compactValue(b, 1)
	if err != nil || json.Unmarshal(b[:n], v.Addr().Interface()) != nil {
		return 0
	}
	return n
}

func readBool(b []byte, v reflect.Value) int {
	if n := null(b); n > 0 {
		return n
	}
	if n, err := literal(b, "false"); err == nil {
		return n
	}
	n, err := literal(b, "true")
	if err == nil {
		v.SetBool(true)
	}
	return n
}

func readInt(b []byte, v reflect.Value) int {
	n, err := compactNumber(b)
	if err != nil {
		return null(b)
	}
	i, err := strconv.ParseInt(string(b[:n]), 10, 64)
	if err != nil || v.OverflowInt(i) {
		return 0
	}
	v.SetInt(i)
	return n
}

func readUint(b []byte, v reflect.Value) int {
	n, err := compactNumber(b)
	if err != nil {
		return null(b)
	}
	i, err := strconv.ParseUint(string(b[:n]), 10, 64)
	if err != nil || v.OverflowUint(i) {
		return 0
	}
	v.SetUint(i)
	return n
}

func readFloat(b []byte, v reflect.Value) int {
	n, err := compactNumber(b)
	if err != nil {
		return null(b)
	}
	f, err := strconv.ParseFloat(string(b[:n]), v.Type().Bits())
	if err != nil || v.OverflowFloat(f) {
		return 0
	}
	v.SetFloat(f)
	return n
}

func (r readers) pointer(t reflect.Type) readFunc {
	read, to := r.of(t.Elem()), t.Elem()
	return func(b []byte, v reflect.Value) int {
		if n := null(b); n > 0 {
			return n
		}
		p := reflect.New(to)
		n := read(b, p.Elem())
		v.Set(p)
		return n
	}
}

func (r readers) list(t reflect.Type) readFunc {
	if t.Elem().Kind() == reflect.Uint8 { // base64
		return readOther
	}
	read := r.of(t.Elem())
	return func(b []byte, v reflect.Value) int {
		if n := null(b); n > 0 {
			return n
		}
		if len(b) < 2 || b[0] != '[' {
			return 0
		}
		if b[1] == ']' {
			v.Set(reflect.MakeSlice(t, 0, 0))
			return 2
		}
		for i, at := 0, 1; ; i++ { // at the start of an element; at++ steps over the comma
			if i == v.Cap() {
				v.Grow(1)
			}
			v.SetLen(i + 1)
			n := read(b[at:], v.Index(i))
			if at += n; n == 0 || at >= len(b) || b[at] != ',' && b[at] != ']' {
				return 0
			}
			if at++; b[at-1] == ']' {
				return at
			}
		}
	}
}

// member is a field of a struct.
type member struct {
	name  string // in quotes, with the colon
	field int
	read  readFunc
}

func (r readers) object(t reflect.Type) readFunc {
	members, ok := r.members(t)
	if !ok {
		return readOther
	}
	return func(b []byte, v reflect.Value) int {
		if n := null(b); n > 0 {
			return n
		}
		if len(b) < 2 || b[0] != '{' {
			return 0
		}
		if b[1] == '}' {
			return 2
		}
		seen, next := uint64(0), 0
		for at := 1; ; {
			i := find(members, next, b[at:])
			if i < 0 || seen&(1<<i) != 0 {
				return 0
			}
			seen, next = seen|1<<i, i+1
			at += len(members[i].name)
			n := members[i].read(b[at:], v.Field(members[i].field))
			if at += n; n == 0 || at >= len(b) || b[at] != ',' && b[at] != '}' {
				return 0
			}
			if at++; b[at-1] == '}' {
				return at
			}
		}
	}
}

// find returns the index of the member at the start of b, which is expected at an index or after it; -1: there is none.
func find(members []member, expected int, b []byte) int {
	for i := expected; i < len(members); i++ {
		if name := members[i].name; len(b) >= len(name) && string(b[:len(name)]) == name {
			return i
		}
	}
	for i := range min(expected, len(members)) {
		if name := members[i].name; len(b) >= len(name) && string(b[:len(name)]) == name {
			return i
		}
	}
	return -1
}

// maxMembers is the number of bits of a set of members.
const maxMembers = 64

// members are the fields of a struct that is as those of events are; false: it is another one.
func (r readers) members(t reflect.Type) (list []member, ok bool) {
	names := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous, strings.Contains(options, "string"):
			return nil, false
		case !f.IsExported(), name == "-" && options == "":
			continue
		case name == "":
			name = f.Name
		}
		if names[name] || strings.ContainsFunc(name, func(c rune) bool {
			return c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
		}) {
			return nil, false
		}
		names[name] = true
		list = append(list, member{`"` + name + `":`, i, r.of(f.Type)})
	}
	return list, len(list) <= maxMembers
}
