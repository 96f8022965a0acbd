package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const methodListen = "subscriptions/listen"

// breath is how often a stream that has nothing to tell shows that it lives.
const breath = 25 * time.Second

// about marks a notification with the stream that it belongs to.
type about struct {
	Subscription json.RawMessage `json:"io.modelcontextprotocol/subscriptionId"`
}

// listen serves a stream of notifications: which tasks it is about, then each of them as it is now and whenever it has
// changed. It ends when all have ended, or with the request. What else the client asked for it did not get here: the
// acknowledgment says so, and a stream of its own gives it.
func (m *message) listen(w http.ResponseWriter, r *http.Request, p *parameters, of func(*http.Request) Source) {
	if p.Meta.Version != r.Header.Get("Mcp-Protocol-Version") {
		m.refuse(w, invalid("_meta has to name the protocol version of the header"))
		return
	}
	if !declares(p.Meta.Capabilities) {
		m.refuse(w, Required())
		return
	}
	if len(p.Notifications.TaskIDs) > maxNamed {
		m.refuse(w, invalid("a stream is about at most %d tasks: open another for the rest", maxNamed))
		return
	}
	source := of(r)
	found, ids, err := lookUp(r.Context(), source, p.Notifications.TaskIDs)
	if err != nil {
		m.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	out := &sender{to: w, flush: http.NewResponseController(w).Flush, stop: stop}
	stream := about{Subscription: m.ID}
	var acknowledged struct {
		Meta          about `json:"_meta"`
		Notifications struct {
			TaskIDs []string `json:"taskIds,omitempty"`
		} `json:"notifications"`
	}
	acknowledged.Meta, acknowledged.Notifications.TaskIDs = stream, ids
	out.send(notification{Version: "2.0", Method: "notifications/subscriptions/acknowledged", Params: acknowledged})
	follow(ctx, source, found, out, stream, p.Meta.Capabilities)
	if ctx.Err() == nil {
		out.send(response{Version: "2.0", ID: m.ID, Result: map[string]any{"resultType": "complete", "_meta": stream}})
	}
}

// lookUp reads those of the named tasks that there are, each once.
func lookUp(ctx context.Context, source Source, named []string) (found []Task, ids []string, err error) {
	seen := map[string]bool{}
	for _, id := range named {
		if seen[id] {
			continue
		}
		seen[id] = true
		t, err := source.Get(ctx, id)
		switch {
		case errors.Is(err, ErrUnknown):
		case err != nil:
			return nil, nil, wireError(err, id)
		default:
			found, ids = append(found, t), append(ids, id)
		}
	}
	return found, ids, nil
}

// follow tells of every task until it has ended, and returns when all have.
func follow(ctx context.Context, source Source, tasks []Task, out *sender, stream about, can *mcp.ClientCapabilities) {
	var all sync.WaitGroup
	for _, t := range tasks {
		all.Go(func() {
			for {
				d, err := detailOf(t, can)
				if err != nil {
					return
				}
				out.send(notification{Version: "2.0", Method: "notifications/tasks", Params: struct {
					Meta about `json:"_meta"`
					whole
				}{stream, d}})
				if t.Status.Final() {
					return
				}
				if t, err = source.Changed(ctx, t); err != nil {
					return // notifications are hints: whoever asks is told
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	beat := time.NewTicker(breath)
	defer beat.Stop()
	for {
		select {
		case <-ended:
			return
		case <-beat.C:
			out.raw(": \n\n")
		}
	}
}

// sender writes a stream of server-sent events, for many goroutines. When the client is gone, it stops the stream.
type sender struct {
	mu    sync.Mutex
	to    http.ResponseWriter
	flush func() error
	stop  context.CancelFunc
}

func (s *sender) send(message any) {
	data, err := json.Marshal(message)
	if err != nil {
		s.stop()
		return
	}
	s.raw(fmt.Sprintf("event: message\ndata: %s\n\n", data))
}

func (s *sender) raw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.to.Write([]byte(text)); err != nil {
		s.stop()
		return
	}
	if err := s.flush(); err != nil {
		s.stop()
	}
}
