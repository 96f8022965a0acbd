package transport

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// sessionNotFound is the code that servers of the protocol commonly give for a session that is not there. Clients in wide use look
// for it before they begin another.
const sessionNotFound = -32001

// answer is what a request is answered with. What is refused as plain text, here or by the SDK, becomes an error of the protocol,
// so that there is one way to refuse: [http.Error]. And each piece has its own time to be read, since an answer as a whole
// may take as long as it takes.
type answer struct {
	http.ResponseWriter
	control *http.ResponseController
	id      json.RawMessage // of the request; nil: it is not known
	refused int             // the status, where plain text is an error's message
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
	_ = a.control.SetWriteDeadline(time.Now().Add(answerLimit)) // a server under test may have none
	if a.refused == 0 {
		return a.ResponseWriter.Write(b)
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

// wireError is an error of JSON-RPC as it is sent.
type wireError struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // null: of no request
	Error   *jsonrpc.Error  `json:"error"`
}

// refusal is a message as an error. It names the request where that is known, for clients would else take the whole connection for
// broken; but not where the session is not found: then it is the session that they have to give up.
func (a *answer) refusal(message string) wireError {
	e := wireError{Version: "2.0", ID: a.id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: message}}
	switch {
	case a.refused == http.StatusNotFound:
		e.ID, e.Error.Code = nil, sessionNotFound
	case a.refused >= http.StatusInternalServerError:
		e.Error.Code = jsonrpc.CodeInternalError
	}
	return e
}

// idOf is the id of a request, as far as it can be read: what comes before it may be cut off after it.
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
