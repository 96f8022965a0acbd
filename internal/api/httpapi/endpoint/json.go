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
	"github.com/trapezehq/trapeze/internal/domain/fastjson"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// JSONFormat reads and writes JSON bodies.
var JSONFormat = huma.Format{Marshal: marshal, Unmarshal: unmarshal}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is the size of the largest buffer that is reused, in bytes.
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

// encode appends JSON and a newline.
func encode(b *bytes.Buffer, v any) error {
	err := fastjson.Encode(b, v)
	if err == nil {
		b.WriteByte('\n')
	}
	return err
}

// marshal writes JSON with a single Write. Agents go by their bare names: see [identity.BareAgents].
func marshal(w io.Writer, v any) error {
	b := takeBuffer()
	defer giveBuffer(b)
	err := encode(b, v)
	if err == nil {
		_, err = w.Write(identity.BareAgents(b.Bytes()))
	}
	return err
}

// unmarshal decodes a body. huma calls it twice: for the value that it validates against the schema, then for the input.
func unmarshal(b []byte, v any) error {
	if _, first := v.(*any); first {
		if err := shape.Check(b); err != nil {
			return err
		}
	}
	return fastjson.Unmarshal(b, v)
}

// decodeError describes an error in a body that satisfies the schema and cannot be decoded.
func decodeError(err error) string {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return fmt.Sprintf("%s: a %s does not fit here", t.Field, t.Value)
	}
	return refusal.Clip(err.Error(), 300)
}
