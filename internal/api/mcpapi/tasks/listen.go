package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const methodListen = "subscriptions/listen"

const (
	// maxNamed is how many tasks one stream of notifications is about.
	maxNamed = 100
	// maxFollowed is how many tasks the open streams of one client, or of one principal, are about together. Each is waited for by
	// itself, and again for each stream: that takes 100 to 200 KiB.
	maxFollowed = 256
)

// Following counts the tasks that open streams are about, where all of them together have a bound. Its zero value is ready.
type Following struct{ tasks atomic.Int32 }

// take counts some more, unless there would be too many.
func (f *Following) take(n int) error {
	if f.tasks.Add(int32(n)) <= maxFollowed { //nolint:gosec // at most maxNamed
		return nil
	}
	f.leave(n)
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf(
		"all your streams of notifications together are about at most %d tasks: end one, or ask for tasks with tasks/get", maxFollowed)}
}

func (f *Following) leave(n int) { f.tasks.Add(int32(-n)) } //nolint:gosec // as above

// parameters are what of a request's the extension has to know where the SDK does not: its types have no place for them.
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

// errMalformed is what parameters are told that are none.
var errMalformed = invalid("taskId is a string, notifications.taskIds a list of strings, and _meta as the protocol says")

// stream is a stream of notifications about tasks, whatever it goes over.
type stream struct {
	id     jsonrpc.ID // of the request for it
	source Source
	can    *mcp.ClientCapabilities
	ids    []string
	tasks  []Task // as they were when it was opened
	among  *Following
}

// about marks a message with the stream that it belongs to.
type about struct {
	Subscription any `json:"io.modelcontextprotocol/subscriptionId"`
}

// open reads the tasks that a stream is to be about, until close is called. Its errors are for the client.
func open(ctx context.Context, source Source, among *Following, id jsonrpc.ID, p *parameters) (*stream, error) {
	if !declares(p.Meta.Capabilities) {
		return nil, Required()
	}
	if len(p.Notifications.TaskIDs) > maxNamed {
		return nil, invalid("a stream is about at most %d tasks: open another for the rest", maxNamed)
	}
	s := &stream{id: id, source: source, can: p.Meta.Capabilities, among: among}
	if err := s.lookUp(ctx, p.Notifications.TaskIDs); err != nil {
		return nil, err
	}
	return s, among.take(len(s.tasks))
}

func (s *stream) close() { s.among.leave(len(s.tasks)) }

// lookUp reads those of the named tasks that there are, each once.
func (s *stream) lookUp(ctx context.Context, named []string) error {
	seen := map[string]bool{}
	for _, id := range named {
		if seen[id] {
			continue
		}
		seen[id] = true
		t, err := s.source.Get(ctx, id)
		switch {
		case errors.Is(err, ErrUnknown):
		case err != nil:
			return wireError(err, id)
		default:
			s.tasks, s.ids = append(s.tasks, t), append(s.ids, id)
		}
	}
	return nil
}

// tell says which tasks the stream is about, then tells of each as it is now and whenever it has changed. It returns when all
// have ended, ctx has, or a message cannot be sent. What else the client asked for it did not get here: the acknowledgment
// says so, and a stream of its own gives it.
func (s *stream) tell(ctx context.Context, send func(jsonrpc.Message) error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	say := func(method string, params any) {
		data, err := json.Marshal(params)
		if err == nil {
			err = send(&jsonrpc.Request{Method: method, Params: data})
		}
		if err != nil {
			stop()
		}
	}
	mark := about{s.id.Raw()}
	var acknowledged struct {
		Meta          about `json:"_meta"`
		Notifications struct {
			TaskIDs []string `json:"taskIds,omitempty"`
		} `json:"notifications"`
	}
	acknowledged.Meta, acknowledged.Notifications.TaskIDs = mark, s.ids
	say("notifications/subscriptions/acknowledged", acknowledged)
	var all sync.WaitGroup
	for _, t := range s.tasks {
		all.Go(func() {
			s.follow(ctx, t, func(d whole) {
				say("notifications/tasks", struct {
					Meta about `json:"_meta"`
					whole
				}{mark, d})
			})
		})
	}
	all.Wait()
}

// follow tells of a task until it has ended.
func (s *stream) follow(ctx context.Context, t Task, say func(whole)) {
	for ctx.Err() == nil {
		d, err := detailOf(t, s.can)
		if err != nil {
			return
		}
		say(d)
		if t.Status.Final() {
			return
		}
		if t, err = s.source.Changed(ctx, t); err != nil {
			return // notifications are hints: whoever asks is told
		}
	}
}

// over answers the request for a stream, which has ended.
func over(id jsonrpc.ID) (*jsonrpc.Response, error) {
	data, err := json.Marshal(map[string]any{"resultType": "complete", "_meta": about{id.Raw()}})
	return &jsonrpc.Response{ID: id, Result: data}, err
}

// refused answers a request with an error of the protocol.
func refused(id jsonrpc.ID, err error) *jsonrpc.Response {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		wire = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	return &jsonrpc.Response{ID: id, Error: wire}
}
