package ledger

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"
)

// writer appends the JSON of an addressable value of one type to b, and reports whether it can: otherwise encoding/json has to write the event.
type writer func(b []byte, v reflect.Value) ([]byte, bool)

// marshal appends the JSON of an event to b, as encoding/json writes it without escaping HTML, and reports whether it can in one pass.
func (t *eventType) marshal(b []byte, event any) ([]byte, bool) {
	if t.write == nil {
		return b, false
	}
	p := reflect.ValueOf(t.spare.Get())
	p.Elem().Set(reflect.ValueOf(event))
	b, ok := t.write(b, p.Elem())
	p.Elem().SetZero()
	t.spare.Put(p.Interface())
	return b, ok
}

// writerOf returns the writer of a type; nil: there is none.
func writerOf(t reflect.Type, depth int) writer {
	switch p := reflect.PointerTo(t); {
	case depth > deepest || t == reflect.TypeFor[json.Number]():
		return nil
	case t == reflect.TypeFor[time.Time]():
		return writeAppended
	case t == reflect.TypeFor[json.RawMessage]():
		return writeRaw
	case p.Implements(reflect.TypeFor[json.Marshaler]()):
		return nil
	case t.Kind() != reflect.Pointer && t.Implements(reflect.TypeFor[encoding.TextAppender]()):
		return writeAppended
	case p.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return nil
	}
	switch t.Kind() {
	case reflect.String:
		return func(b []byte, v reflect.Value) ([]byte, bool) { return appendQuoted(b, v.String()), true }
	case reflect.Bool:
		return func(b []byte, v reflect.Value) ([]byte, bool) { return strconv.AppendBool(b, v.Bool()), true }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) ([]byte, bool) { return strconv.AppendInt(b, v.Int(), 10), true }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(b []byte, v reflect.Value) ([]byte, bool) { return strconv.AppendUint(b, v.Uint(), 10), true }
	case reflect.Float64:
		return writeFloat
	case reflect.Pointer:
		return pointerWriter(t, depth)
	case reflect.Slice:
		return sliceWriter(t, depth)
	case reflect.Struct:
		return structWriter(t, depth)
	default:
		return nil
	}
}

// writeAppended writes a text that needs no escapes.
func writeAppended(b []byte, v reflect.Value) ([]byte, bool) {
	text, ok := v.Addr().Interface().(encoding.TextAppender)
	if !ok {
		return b, false
	}
	start := len(b)
	b, err := text.AppendText(append(b, '"'))
	if b = append(b, '"'); err != nil {
		return b, false
	}
	return b, plainRun(b[start+1:]) == len(b)-start-2
}

// writeRaw copies what is compact.
func writeRaw(b []byte, v reflect.Value) ([]byte, bool) {
	raw := v.Bytes()
	if raw == nil {
		return append(b, "null"...), true
	}
	n, err := compactValue(raw, 1)
	return append(b, raw...), err == nil && n == len(raw)
}

func writeFloat(b []byte, v reflect.Value) ([]byte, bool) {
	f := v.Float()
	if n := int64(f); n > 0 && n < 1<<53 && float64(n) == f {
		return strconv.AppendInt(b, n, 10), true
	}
	text, err := json.Marshal(f)
	return append(b, text...), err == nil
}

func pointerWriter(t reflect.Type, depth int) writer {
	write := writerOf(t.Elem(), depth+1)
	if write == nil {
		return nil
	}
	return func(b []byte, v reflect.Value) ([]byte, bool) {
		if v.IsNil() {
			return append(b, "null"...), true
		}
		return write(b, v.Elem())
	}
}

func sliceWriter(t reflect.Type, depth int) writer {
	write := writerOf(t.Elem(), depth+1)
	if write == nil || t.Elem().Kind() == reflect.Uint8 { // bytes are in base64
		return nil
	}
	return func(b []byte, v reflect.Value) ([]byte, bool) {
		if v.IsNil() {
			return append(b, "null"...), true
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			var ok bool
			if b, ok = write(b, v.Index(i)); !ok {
				return b, false
			}
		}
		return append(b, ']'), true
	}
}

// structWriter returns the writer of a struct. With a member that has no writer, what leaves that member out is written.
func structWriter(t reflect.Type, depth int) writer {
	members, ok := membersOf(t)
	if !ok {
		return nil
	}
	for i := range members {
		m := &members[i]
		m.write, m.omit = writerOf(m.of, depth+1), omitted(m.of, m.option)
		if m.option != "" && m.omit == nil {
			return nil
		}
	}
	return func(b []byte, v reflect.Value) ([]byte, bool) {
		start := len(b)
		for i := range members {
			m := &members[i]
			field := v.Field(m.index)
			if m.omit != nil && m.omit(field) {
				continue
			}
			if m.write == nil {
				return b, false
			}
			var ok bool
			if b, ok = m.write(append(append(b, ','), m.name...), field); !ok {
				return b, false
			}
		}
		if len(b) == start {
			b = append(b, ',')
		}
		b[start] = '{'
		return append(b, '}'), true
	}
}

// isZero is implemented by types that say themselves what omitzero leaves out.
type isZero interface{ IsZero() bool }

// omitted returns what reports that the option of a tag leaves a value of a type out; nil: the option is another one.
func omitted(t reflect.Type, option string) func(reflect.Value) bool {
	of := reflect.TypeFor[isZero]()
	says := t.Implements(of) || reflect.PointerTo(t).Implements(of)
	switch {
	case option == "omitempty":
		return isEmpty
	case option != "omitzero" || says && t.Kind() == reflect.Pointer:
		return nil
	case says:
		return func(v reflect.Value) bool { z, ok := v.Addr().Interface().(isZero); return ok && z.IsZero() }
	}
	return reflect.Value.IsZero
}

// isEmpty reports whether omitempty leaves a value out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

// appendQuoted appends a text as encoding/json writes it without escaping HTML.
func appendQuoted(b []byte, s string) []byte {
	start := len(b) + 1
	b = append(append(b, '"'), s...)
	plain := plainRun(b[start:])
	if plain == len(s) {
		return append(b, '"')
	}
	b, done := b[:start], 0 // how much of s is written
	for i := plain; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		escape := escapeOf(r, n)
		if i += n; escape != "" {
			b = append(append(b, s[done:i-n]...), escape...)
			done = i
		}
	}
	return append(append(b, s[done:]...), '"')
}

// escapeOf is how encoding/json writes a character that was read from n bytes, if it escapes it.
func escapeOf(r rune, n int) string {
	const hex = "0123456789abcdef"
	switch {
	case r == utf8.RuneError && n == 1:
		return `\ufffd`
	case r == '\u2028':
		return `\u2028`
	case r == '\u2029':
		return `\u2029`
	case r >= utf8.RuneSelf || plainByte[r]:
		return ""
	}
	switch r {
	case '"', '\\':
		return string([]byte{'\\', byte(r)})
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	return `\u00` + string([]byte{hex[r>>4], hex[r&15]})
}
