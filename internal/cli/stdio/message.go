package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trapezehq/trapeze/internal/api/mcpapi"
)

// line is a line of the input, without what ends it. Of one that is too long there is nothing else.
type line struct {
	text []byte
	long bool
}

// readLine reads to the end of a line, or of the input, which is its error.
func readLine(r *bufio.Reader) (out line, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if out.long = out.long || len(out.text)+len(bytes.TrimRight(part, "\r\n")) > mcpapi.MaxBody; out.long {
			out.text = nil
		} else {
			out.text = append(out.text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return out, err
		}
	}
}

// fault is what is wrong with a line.
type fault struct {
	id   json.RawMessage // of the call, if it is known
	code int64
	text string
}

// answer is a fault as an answer of JSON-RPC.
func (f *fault) answer() ([]byte, error) {
	if f.id == nil {
		f.id = json.RawMessage("null")
	}
	return json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", f.id, jsonrpc.Error{Code: f.code, Message: f.text}})
}

// json is what a line says.
func (n line) json() ([]byte, *fault) {
	text := bytes.TrimSpace(n.text)
	switch {
	case n.long:
		return nil, &fault{code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf(
			"the message is too large: at most %d bytes are taken. Put large content into an artifact (trapeze artifact put) and refer to it", mcpapi.MaxBody)}
	case !utf8.Valid(text):
		return nil, &fault{code: jsonrpc.CodeParseError, text: "the line is not UTF-8"}
	case !json.Valid(text):
		return nil, &fault{code: jsonrpc.CodeParseError, text: "the line is not JSON: a message is one JSON object on one line"}
	}
	return text, nil
}

// messageOf reads a message from JSON.
func messageOf(text []byte) (jsonrpc.Message, *fault) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		return nil, &fault{code: jsonrpc.CodeInvalidRequest, text: "a message is a JSON object"}
	}
	id, given := fields["id"]
	if given && !mcpapi.Identifies(id) {
		return nil, &fault{code: jsonrpc.CodeInvalidRequest, text: "an id is a string or a whole number"}
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		f := &fault{code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf("this is no message of JSON-RPC 2.0: %.200s", err)}
		if _, call := fields["method"]; call {
			f.id = id
		}
		return nil, f
	}
	return m, nil
}
