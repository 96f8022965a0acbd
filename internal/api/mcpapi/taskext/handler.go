package taskext

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxBody is the maximum size of a request about tasks, in bytes.
	maxBody = 1 << 20
	// keepAlive is the interval of comments on a stream without events.
	keepAlive = 25 * time.Second
)

// Handler serves the parts of the extension over HTTP that the SDK does not have: it checks that the Mcp-Name header is the taskId of the
// body, and serves subscriptions/listen for tasks with notifications/tasks. All other requests go to next. The caller must be
// authenticated; of returns the tasks that it may see, and the counter of those that it follows.
func Handler(next http.Handler, of func(*http.Request) (Source, *Following)) http.Handler {
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
				http.Error(w, "the request is too large: the limit for requests about tasks is 1 MiB", http.StatusRequestEntityTooLarge)
				return
			}
			http.Error(w, "the request's body could not be read", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		m, err := jsonrpc.DecodeMessage(body)
		call, is := m.(*jsonrpc.Request)
		if err != nil || !is || call.Method != method || !call.IsCall() {
			next.ServeHTTP(w, r) // next refuses it
			return
		}
		var p parameters
		if len(call.Params) > 0 && json.Unmarshal(call.Params, &p) != nil {
			answer(w, refused(call.ID, errMalformed))
			return
		}
		switch name := r.Header.Get("Mcp-Name"); {
		case method != methodListen && name != p.TaskID:
			answer(w, refused(call.ID, &jsonrpc.Error{Code: mcp.CodeHeaderMismatch, Message: "the header Mcp-Name must be the taskId of the body"}))
		case len(p.Notifications.TaskIDs) > 0:
			listen(w, r, call.ID, &p, of)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// listen serves a notification stream. It ends when all of its tasks have ended, or with the request.
func listen(w http.ResponseWriter, r *http.Request, id jsonrpc.ID, p *parameters, of func(*http.Request) (Source, *Following)) {
	if p.Meta.Version != r.Header.Get("Mcp-Protocol-Version") {
		answer(w, refused(id, invalid("_meta must have the protocol version of the header")))
		return
	}
	source, following := of(r)
	s, err := open(r.Context(), source, following, id, p)
	if err != nil {
		answer(w, refused(id, err))
		return
	}
	defer s.close()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	out := &sender{to: w, flush: http.NewResponseController(w).Flush}
	var alive sync.WaitGroup
	alive.Go(func() { out.keepAlive(ctx, stop) })
	s.tell(ctx, out.send)
	if end, err := over(id); err == nil && ctx.Err() == nil {
		_ = out.send(end) // the client may be gone
	}
	stop()
	alive.Wait()
}

// answer writes a protocol error, before anything else was written.
func answer(w http.ResponseWriter, r *jsonrpc.Response) {
	status := http.StatusBadRequest
	var wire *jsonrpc.Error
	if errors.As(r.Error, &wire) && wire.Code == jsonrpc.CodeInternalError {
		status = http.StatusInternalServerError
	}
	body, err := jsonrpc.EncodeMessage(r)
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// sender writes server-sent events. It is safe for concurrent use.
type sender struct {
	mu    sync.Mutex
	to    http.ResponseWriter
	flush func() error
}

func (s *sender) send(m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return s.raw(fmt.Sprintf("event: message\ndata: %s\n\n", data))
}

func (s *sender) raw(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.to.Write([]byte(text)); err != nil {
		return err
	}
	return s.flush()
}

// keepAlive sends comments until ctx ends. If the client is gone, it calls stop.
func (s *sender) keepAlive(ctx context.Context, stop context.CancelFunc) {
	beat := time.NewTicker(keepAlive)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			if s.raw(": \n\n") != nil {
				stop()
			}
		}
	}
}
