package tasks

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxBody is the largest request about tasks, in bytes. Answers to questions are short.
const maxBody = 1 << 20

// maxNamed is how many tasks one stream of notifications is about.
const maxNamed = 100

// Door serves what the extension needs of HTTP and the SDK has not: the header that names the task has to name the one in
// the body, and subscriptions/listen that names tasks gets notifications/tasks. All else goes to next. The request is of
// a caller that is known by now; of gives the tasks that it may see.
func Door(next http.Handler, of func(*http.Request) Source) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Header.Get("Mcp-Method")
		switch method {
		case methodGet, methodUpdate, methodCancel, methodListen:
		default:
			next.ServeHTTP(w, r)
			return
		}
		if r.Method != http.MethodPost || r.Header.Get("Mcp-Protocol-Version") < since {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			var tooLarge *http.MaxBytesError
			if errors.As(err, &tooLarge) {
				http.Error(w, "a request about tasks has at most 1 MiB", http.StatusRequestEntityTooLarge)
				return
			}
			http.Error(w, "the request's body could not be read", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m message
		if json.Unmarshal(body, &m) != nil || m.Method != method || !m.hasID() {
			next.ServeHTTP(w, r) // which refuses it
			return
		}
		var p parameters
		if len(m.Params) > 0 && json.Unmarshal(m.Params, &p) != nil {
			m.refuse(w, invalid("taskId is a string, notifications.taskIds a list of strings, and _meta as the protocol says"))
			return
		}
		switch name := r.Header.Get("Mcp-Name"); {
		case method != methodListen && name != p.TaskID:
			m.refuse(w, &jsonrpc.Error{Code: mcp.CodeHeaderMismatch, Message: "the header Mcp-Name has to be the taskId of the body"})
		case len(p.Notifications.TaskIDs) > 0:
			m.listen(w, r, &p, of)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// message is what of a request the door has to know.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type parameters struct {
	Meta struct {
		Version      string                  `json:"io.modelcontextprotocol/protocolVersion"`
		Capabilities *mcp.ClientCapabilities `json:"io.modelcontextprotocol/clientCapabilities"`
	} `json:"_meta"`
	TaskID        string `json:"taskId"`
	Notifications struct {
		TaskIDs []string `json:"taskIds"`
	} `json:"notifications"`
}

// hasID reports whether the request can be answered.
func (m *message) hasID() bool {
	return len(m.ID) > 0 && m.ID[0] != 'n' && m.ID[0] != '{' && m.ID[0] != '['
}

// refuse answers with an error of the protocol, before anything else was written.
func (m *message) refuse(w http.ResponseWriter, e error) {
	var wire *jsonrpc.Error
	if !errors.As(e, &wire) {
		wire = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: e.Error()}
	}
	status := http.StatusBadRequest
	if wire.Code == jsonrpc.CodeInternalError {
		status = http.StatusInternalServerError
	}
	body, err := json.Marshal(response{Version: "2.0", ID: m.ID, Err: wire})
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // whoever is gone needs no answer
}

// response answers a request.
type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Err     *jsonrpc.Error  `json:"error,omitempty"`
}

// notification tells a client something that it has not asked just now.
type notification struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}
