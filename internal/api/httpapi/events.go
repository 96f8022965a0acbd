package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/positions"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/history"
)

func (s *service) events() {
	op := s.router.Operation(endpoint.Route{
		Method: http.MethodGet, Path: "/v1/events", ID: "events", Summary: "Stream events as they happen (server-sent events)",
		About: "Every message named entry has an Event; its id is the position to resume after. Comments keep the connection alive. " +
			"Agents are told of the tasks that they have a part in, of the memory items and conversations that they may read, of agents and of channels; people at a desk are told of its tickets, too.",
		Tag: endpoint.TagRecord,
	})
	position := &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: new(float64)}
	op.Parameters = []*huma.Param{
		endpoint.Query("after", "Start after this position; 0 is the beginning of the record. If omitted: new events only.", position),
		{Name: "Last-Event-ID", In: "header", Description: "The same as after, and takes precedence over it.", Schema: position},
	}
	schema := endpoint.SchemaOf[history.Event](s.router)
	op.Responses = map[string]*huma.Response{"200": {Description: "A stream that does not end", Content: map[string]*huma.MediaType{
		"text/event-stream": {Schema: &huma.Schema{
			Type: huma.TypeString, Description: "Messages of which data is an Event in JSON.",
			Extensions: map[string]any{"x-data": schema},
		}},
	}}}
	s.router.Raw(op, s.follow)
}

// startOf returns the position that a stream starts after.
func (s *service) startOf(r *http.Request) (positions.Position, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	last, err := s.app.Positions.Last(r.Context())
	if err != nil || text == "" {
		return last, err
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || positions.Position(n) > last {
		return 0, refusal.New(refusal.Invalid, "give the id of a message of this server, or omit it to start now",
			"%.40q is not a position in the record; the newest entry is %d", text, last)
	}
	return positions.Position(n), nil
}

// Limits of open event streams: each buffers a batch of the record in memory if its client is slow.
const (
	maxStreams    = 256
	maxStreamsFor = 8 // one principal
)

// admit counts an event stream until done is called, or refuses it.
func (s *service) admit(c caller.Caller) (done func(), err error) {
	who := c.Workspace + "/" + c.String()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streaming >= maxStreams || s.streams[who] >= maxStreamsFor {
		return nil, refusal.New(refusal.Limit, "close one first; a stream can be resumed with the id of its last message",
			"%d event streams are open, %d of them yours", s.streaming, s.streams[who])
	}
	s.streaming++
	s.streams[who]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.streaming--
		if s.streams[who]--; s.streams[who] == 0 {
			delete(s.streams, who)
		}
	}, nil
}

// follow sends events until the caller closes the connection, the server stops or is drained, or the token becomes invalid.
func (s *service) follow(w http.ResponseWriter, r *http.Request) error {
	stopping := s.opts.Stopping().Done()
	if s.opts.Drained() {
		return refusal.New(refusal.Unavailable, "call another server", "the server is drained, and has no event streams")
	}
	done, err := s.admit(endpoint.Caller(r.Context()))
	if err != nil {
		return err
	}
	defer done()
	after, err := s.startOf(r)
	if err == nil {
		err = s.app.History.CanFollow(r.Context(), after)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	endpoint.Patient(r.Context())
	events, ended := make(chan history.Event, 64), make(chan error, 1)
	go func() {
		ended <- s.app.History.Follow(ctx, endpoint.Caller(r.Context()), after, func(n history.Event) error {
			select {
			case events <- n:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	out := &eventWriter{w: w, control: http.NewResponseController(w)}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // for proxies
	out.printf("retry: 1000\nid: %d\nevent: open\ndata: {\"position\":%d}\n\n", after, after)
	beat := time.NewTicker(s.opts.Heartbeat)
	defer beat.Stop()
	for out.flush() == nil {
		select {
		case <-stopping:
			if s.opts.Drained() {
				return nil
			}
			stopping = nil // what happens while the server stops is still told
		case n := <-events:
			if endpoint.Still(r.Context()) != nil {
				return nil
			}
			out.event(n)
			for len(events) > 0 {
				out.event(<-events)
			}
		case <-beat.C:
			if endpoint.Still(r.Context()) != nil {
				return nil
			}
			out.printf(": alive\n\n")
		case err := <-ended:
			if err != nil && ctx.Err() == nil {
				s.router.Log().WarnContext(ctx, "an event stream ended", append([]any{"error", err}, endpoint.About(r.Context())...)...)
			}
			for len(events) > 0 {
				out.event(<-events)
			}
			_ = out.flush() // it ends either way
			return nil
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// eventWriter writes server-sent events. After the first error it writes nothing.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
}

func (o *eventWriter) printf(format string, args ...any) {
	if o.err != nil {
		return
	}
	if err := o.control.SetWriteDeadline(time.Now().Add(endpoint.SendLimit)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		o.err = err
		return
	}
	_, o.err = fmt.Fprintf(o.w, format, args...)
}

func (o *eventWriter) event(n history.Event) {
	b, err := json.Marshal(n)
	if err != nil {
		o.err = err
		return
	}
	o.printf("id: %d\nevent: entry\ndata: %s\n\n", n.Position, identity.BareAgents(b))
}

func (o *eventWriter) flush() error {
	if o.err == nil {
		o.err = o.control.Flush()
	}
	return o.err
}
