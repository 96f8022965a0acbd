package stdio

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trapezehq/trapeze/internal/api/mcpapi"
)

// unbatched is the first version of the protocol that has no batches.
const unbatched = "2025-06-18"

// batch is messages that came in one line, and whose answers go in one.
type batch struct {
	left    int // calls that are not answered
	answers [][]byte
}

// answered adds an answer to a call, and gives the line if that was the last. An answer may be empty, if it could not be written.
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

// line is the answers, if no other is awaited, and nil if there are none.
func (b *batch) line() []byte {
	if b.left > 0 || len(b.answers) == 0 {
		return nil
	}
	return append(append([]byte{'['}, bytes.Join(b.answers, []byte{','})...), ']')
}

// takeBatch makes the messages of a batch ready, and refuses what in it is none; the answer has its place among the others.
func (l *lines) takeBatch(text []byte) error {
	members, wrong := l.members(text)
	if wrong != nil {
		return l.refuse(wrong)
	}
	b := &batch{} // nobody answers before its messages are read
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

// members are the messages of a batch, in a session that may have them.
func (l *lines) members(text []byte) (out []json.RawMessage, wrong *fault) {
	l.mu.Lock()
	version := l.version
	l.mu.Unlock()
	wrong = &fault{code: jsonrpc.CodeInvalidRequest}
	if version == "" || version >= unbatched {
		wrong.text = "batches are taken after initialize, in protocol versions before " + unbatched + ": send each message on a line of its own"
		return nil, wrong
	}
	switch err := json.Unmarshal(text, &out); {
	case err != nil:
		wrong.text = fmt.Sprintf("this is no batch: %.200s", err)
	case len(out) == 0:
		wrong.text = "a batch has at least one message"
	case len(out) > mcpapi.MaxBatch:
		wrong.text = fmt.Sprintf("a batch has at most %d messages: send the rest in another", mcpapi.MaxBatch)
	default:
		wrong = nil
	}
	return out, wrong
}

// versionOf is the protocol version that the answer to a greeting agrees to.
func versionOf(r *jsonrpc.Response) string {
	var said struct {
		Version string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(r.Result, &said) // without one, there is none
	return said.Version
}
