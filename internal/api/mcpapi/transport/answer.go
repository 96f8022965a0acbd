package transport

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// sessionNotFound is the error code that MCP servers commonly use for an unknown session. Common clients check for it before they
// start another session.
const sessionNotFound = -32001

// primeName is the name that the SDK gives to the first event of a stream, which has an id and no data, so that a client can reconnect. The
// protocol (2025-11-25, basic/transports) gives it no name, and clients of other SDKs warn of an event whose name they do not have.
const primeName = "event: prime\n"

// answer is the response to a request. A refusal in plain text, from here or from the SDK ([http.Error]), becomes an error of the
// protocol. Each write has its own deadline, because a response as a whole may take any time.
type answer struct {
	http.ResponseWriter
	control *http.ResponseController
	id      json.RawMessage // of the request; nil if it is unknown
	refused int             // the status of a plain-text refusal; 0 if there is none
}

func answerTo(w http.ResponseWriter) *answer {
	return &answer{ResponseWriter: w, control: http.NewResponseController(w)}
}

func (a *answer) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(a.Header().Get("Content-Type"), "text/plain") {
		a.refused = status
		a.Header().Set("Content-Type", "application/json")
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (int, error) {
	_ = a.control.SetWriteDeadline(time.Now().Add(answerLimit)) // not supported by test servers
	if a.refused == 0 {
		unnamed := bytes.TrimPrefix(b, []byte(primeName)) // the SDK writes an event at once
		n, err := a.ResponseWriter.Write(unnamed)
		return n + len(b) - len(unnamed), err
	}
	body, err := json.Marshal(a.refusal(string(bytes.TrimSpace(b)))) // http.Error writes once
	if err != nil {
		return 0, err
	}
	_, err = a.ResponseWriter.Write(body)
	return len(b), err
}

// Unwrap is for [http.ResponseController].
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// wireError is a JSON-RPC error response.
type wireError struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // null if the request is unknown
	Error   *jsonrpc.Error  `json:"error"`
}

// refusal returns the error for a message. It has the id of the request if that is known: without an id, clients consider the whole
// connection broken. For an unknown session it has no id, because clients must give up the session.
func (a *answer) refusal(message string) wireError {
	e := wireError{Version: "2.0", ID: a.id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: message}}
	switch {
	case a.refused == http.StatusNotFound:
		e.ID, e.Error.Code = nil, sessionNotFound
	case a.refused == http.StatusRequestTimeout, a.refused >= http.StatusInternalServerError: // the message itself may be right
		e.Error.Code = jsonrpc.CodeInternalError
	}
	return e
}

// idOf returns the id of a request, if it can be read. The body may be truncated after the id.
func idOf(body []byte) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		var value json.RawMessage
		name, err := d.Token()
		if err != nil || d.Decode(&value) != nil {
			return nil
		}
		if name == "id" && (value[0] == '"' || value[0] == '-' || value[0] >= '0' && value[0] <= '9') {
			return value
		}
	}
	return nil
}
