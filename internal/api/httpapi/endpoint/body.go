package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/api/shape"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// JSONFormat is how bodies are read and written.
var JSONFormat = huma.Format{Marshal: marshal, Unmarshal: unmarshal}

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
		if err := shape.Check(b); err != nil {
			return err
		}
	}
	return json.Unmarshal(b, v)
}

// decodeError says what is wrong with a body that the schema takes and the input does not.
func decodeError(err error) string {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return fmt.Sprintf("%s: a %s does not fit here", t.Field, t.Value)
	}
	return refusal.Clip(err.Error(), 300)
}
