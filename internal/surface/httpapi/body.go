package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// marshal writes JSON in one piece.
func marshal(w io.Writer, v any) error {
	b, ok := buffers.Get().(*bytes.Buffer)
	if !ok {
		b = new(bytes.Buffer)
	}
	b.Reset()
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		_, err = w.Write(b.Bytes())
	}
	if b.Cap() <= maxPooled {
		buffers.Put(b)
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

// checkJSON refuses text that is not UTF-8 or nested too deeply, before anything is built of it.
func checkJSON(b []byte) error {
	if !utf8.Valid(b) {
		return errors.New("is not valid UTF-8")
	}
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("is nested more than %d levels deep", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
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
