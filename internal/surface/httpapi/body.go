package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
)

// jsonFormat is how bodies are read and written.
var jsonFormat = huma.Format{Marshal: marshal, Unmarshal: unmarshal}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is the largest buffer that is kept for the next answer.
const maxPooled = 64 << 10

func takeBuffer() *bytes.Buffer {
	b, ok := buffers.Get().(*bytes.Buffer)
	if !ok {
		b = new(bytes.Buffer)
	}
	b.Reset()
	return b
}

func giveBuffer(b *bytes.Buffer) {
	if b.Cap() <= maxPooled {
		buffers.Put(b)
	}
}

// encode appends JSON, and a line's end.
func encode(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// marshal writes JSON in one piece.
func marshal(w io.Writer, v any) error {
	b := takeBuffer()
	defer giveBuffer(b)
	err := encode(b, v)
	if err == nil {
		_, err = w.Write(b.Bytes())
	}
	return err
}

// unmarshal reads a body. huma calls it twice: for the value that it checks against the schema, then for the input.
func unmarshal(b []byte, v any) error {
	if _, first := v.(*any); first {
		if err := checkJSON(b); err != nil {
			return err
		}
	}
	return json.Unmarshal(b, v)
}

// checkJSON refuses text that is not UTF-8, is nested too deeply or names a field twice, before anything is built of it.
// Of a field that is there twice huma checks the last, but both are read into the input.
func checkJSON(b []byte) error {
	if !utf8.Valid(b) {
		return errors.New("is not valid UTF-8")
	}
	var open []level
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			end := stringEnd(b, i)
			if n := len(open); n > 0 && open[n-1].key {
				if err := open[n-1].name(b[i:end]); err != nil {
					return err
				}
			}
			i = end - 1
		case '{', '[':
			if len(open) == maxDepth {
				return fmt.Errorf("is nested more than %d levels deep", maxDepth)
			}
			open = append(open, level{object: c == '{', key: c == '{'})
		case '}', ']':
			open = open[:max(len(open)-1, 0)]
		case ',':
			if n := len(open); n > 0 {
				open[n-1].key = open[n-1].object
			}
		}
	}
	return nil
}

// level is an object or a list that has begun and not ended.
type level struct {
	object bool
	key    bool // the next string is a key
	keys   map[string]bool
}

// name takes the next key, as it is quoted in the text.
func (l *level) name(quoted []byte) error {
	l.key = false
	name := strings.Trim(string(quoted), `"`)
	if bytes.IndexByte(quoted, '\\') >= 0 {
		_ = json.Unmarshal(quoted, &name) // where this fails, reading the text will
	}
	if l.keys[name] {
		return fmt.Errorf("has the field %q twice in one place", refusal.Clip(name, 80))
	}
	if l.keys == nil {
		l.keys = map[string]bool{}
	}
	l.keys[name] = true
	return nil
}

// stringEnd is where the string ends that begins at i, its quotes included.
func stringEnd(b []byte, i int) int {
	i++
	if n := bytes.IndexByte(b[i:], '"'); n >= 0 && bytes.IndexByte(b[i:i+n], '\\') < 0 {
		return i + n + 1
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// maxDepth leaves room for the fields around the deepest data that the rules take.
const maxDepth = fact.MaxJSONDepth + 8

// decodeError says what is wrong with a body that the schema takes and the input does not.
func decodeError(err error) string {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return fmt.Sprintf("%s: a %s does not fit here", t.Field, t.Value)
	}
	return refusal.Clip(err.Error(), 300)
}
