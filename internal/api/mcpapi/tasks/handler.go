package tasks

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
	// maxBody is the largest request about tasks, in bytes. Answers to questions are short.
	maxBody = 1 << 20
	// breath is how often a stream that has nothing to tell shows that it lives.
	breath = 25 * time.Second
)

// Door serves what the extension needs of HTTP and the SDK has not: the header that names the task has to name the one in
// the body, and subscriptions/listen that names tasks gets notifications/tasks. All else goes to next. The request is of
// a caller that is known by now; of gives the tasks that it may see, and counts those that it follows.
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
				http.Error(w, "a request about tasks has at most 1 MiB", http.StatusRequestEntityTooLarge)
				return
			}
			http.Error(w, "the request's body could not be read", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		m, err := jsonrpc.DecodeMessage(body)
		call, is := m.(*jsonrpc.Request)
		if err != nil || !is || call.Method != method || !call.IsCall() {
			next.ServeHTTP(w, r) // which refuses it
			return
		}
		var p parameters
		if len(call.Params) > 0 && json.Unmarshal(call.Params, &p) != nil {
			answer(w, refused(call.ID, errMalformed))
			return
		}
		switch name := r.Header.Get("Mcp-Name"); {
		case method != methodListen && name != p.TaskID:
			answer(w, refused(call.ID, &jsonrpc.Error{Code: mcp.CodeHeaderMismatch, Message: "the header Mcp-Name has to be the taskId of the body"}))
		case len(p.Notifications.TaskIDs) > 0:
			listen(w, r, call.ID, &p, of)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// listen serves a stream of notifications. It ends when all of its tasks have, or with the request.
func listen(w http.ResponseWriter, r *http.Request, id jsonrpc.ID, p *parameters, of func(*http.Request) (Source, *Following)) {
	if p.Meta.Version != r.Header.Get("Mcp-Protocol-Version") {
		answer(w, refused(id, invalid("_meta has to name the protocol version of the header")))
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
	var breathing sync.WaitGroup
	breathing.Go(func() { out.breathe(ctx, stop) })
	s.tell(ctx, out.send)
	if end, err := over(id); err == nil && ctx.Err() == nil {
		_ = out.send(end) // whoever is gone needs no answer
	}
	stop()
	breathing.Wait()
}

// answer writes an error of the protocol, before anything else was written.
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
	_, _ = w.Write(body) // whoever is gone needs no answer
}

// sender writes a stream of server-sent events, for many goroutines.
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

// breathe shows that the stream lives until ctx ends. When the client is gone, it stops the stream.
func (s *sender) breathe(ctx context.Context, stop context.CancelFunc) {
	beat := time.NewTicker(breath)
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
