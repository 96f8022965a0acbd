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

// line is a line of the input. If it is too long, its text is discarded.
type line struct {
	text []byte
	long bool
}

// readLine reads a line. At the end of the input it returns the last line with the error.
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

// fault is the error of a line.
type fault struct {
	id   json.RawMessage // of the call; nil if it is unknown
	code int64
	text string
}

// answer encodes the fault as a JSON-RPC response.
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

// json returns the JSON of a line.
func (n line) json() ([]byte, *fault) {
	text := bytes.TrimSpace(n.text)
	switch {
	case n.long:
		return nil, &fault{code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf(
			"the message is larger than %d bytes: upload large content as an artifact (trapeze artifact put), and refer to it", mcpapi.MaxBody)}
	case !utf8.Valid(text):
		return nil, &fault{code: jsonrpc.CodeParseError, text: "the line is not UTF-8"}
	case !json.Valid(text):
		return nil, &fault{code: jsonrpc.CodeParseError, text: "the line is not JSON: a message must be one JSON object on one line"}
	}
	return text, nil
}

// messageOf decodes a message.
func messageOf(text []byte) (jsonrpc.Message, *fault) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		return nil, &fault{code: jsonrpc.CodeInvalidRequest, text: "a message must be a JSON object"}
	}
	id, given := fields["id"]
	if given && !mcpapi.Identifies(id) {
		return nil, &fault{code: jsonrpc.CodeInvalidRequest, text: "an id must be a string or a whole number"}
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		f := &fault{code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf("this is not a JSON-RPC 2.0 message: %.200s", err)}
		if _, call := fields["method"]; call {
			f.id = id
		}
		return nil, f
	}
	return m, nil
}
