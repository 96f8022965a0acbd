package stdio

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trapezehq/trapeze/internal/api/mcpapi"
)

// unbatched is the first version of the protocol without batches.
const unbatched = "2025-06-18"

// batch is the messages of one line, whose answers are written in one line.
type batch struct {
	left    int // calls that have not been answered
	answers [][]byte
}

// answered adds the answer to a call, and returns the line if it was the last one. The answer is empty if it could not be encoded.
func (b *batch) answered(text []byte) []byte {
	b.left--
	b.add(text)
	return b.line()
}

func (b *batch) add(text []byte) {
	if len(text) > 0 {
		b.answers = append(b.answers, text)
	}
}

// line returns the answers once no other is expected; nil if there are none.
func (b *batch) line() []byte {
	if b.left > 0 || len(b.answers) == 0 {
		return nil
	}
	return append(append([]byte{'['}, bytes.Join(b.answers, []byte{','})...), ']')
}

// takeBatch queues the messages of a batch. An element that is not a message is refused; the refusal is one of the answers.
func (l *lines) takeBatch(text []byte) error {
	members, wrong := l.members(text)
	if wrong != nil {
		return l.refuse(wrong)
	}
	b := &batch{} // no answers before its messages have been read
	for _, text := range members {
		wrong := l.takeOne(text, b)
		if wrong == nil {
			continue
		}
		answer, err := l.refusal(wrong)
		if err != nil {
			return err
		}
		b.add(answer)
	}
	if line := b.line(); line != nil {
		return l.put(line)
	}
	return nil
}

// members returns the messages of a batch, if the version of the session allows batches.
func (l *lines) members(text []byte) (out []json.RawMessage, wrong *fault) {
	l.mu.Lock()
	version := l.version
	l.mu.Unlock()
	wrong = &fault{code: jsonrpc.CodeInvalidRequest}
	if version == "" || version >= unbatched {
		wrong.text = "batches are accepted after initialize, in protocol versions before " + unbatched + ": send each message on a line of its own"
		return nil, wrong
	}
	switch err := json.Unmarshal(text, &out); {
	case err != nil:
		wrong.text = fmt.Sprintf("this is not a batch: %.200s", err)
	case len(out) == 0:
		wrong.text = "a batch must have at least one message"
	case len(out) > mcpapi.MaxBatch:
		wrong.text = fmt.Sprintf("a batch must have at most %d messages: send the rest in another batch", mcpapi.MaxBatch)
	default:
		wrong = nil
	}
	return out, wrong
}

// versionOf is the protocol version in the answer to the first message.
func versionOf(r *jsonrpc.Response) string {
	var said struct {
		Version string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(r.Result, &said) // empty if there is none
	return said.Version
}
