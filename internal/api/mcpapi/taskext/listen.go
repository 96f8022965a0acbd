package taskext

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
	// maxNamed is the maximum number of tasks of one notification stream.
	maxNamed = 100
	// maxFollowed is the maximum number of tasks of all open streams of one client or principal. Waiting for a task takes 100 to
	// 200 KiB, for each stream again.
	maxFollowed = 256
)

// Following counts the tasks of open streams, to limit their number. Its zero value is ready to use.
type Following struct{ tasks atomic.Int32 }

// take adds n tasks, unless there would be too many.
func (f *Following) take(n int) error {
	if f.tasks.Add(int32(n)) <= maxFollowed { //nolint:gosec // at most maxNamed
		return nil
	}
	f.leave(n)
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf(
		"all your notification streams together can follow at most %d tasks: close one, or read tasks with tasks/get", maxFollowed)}
}

func (f *Following) leave(n int) { f.tasks.Add(int32(-n)) } //nolint:gosec // as above

// parameters are the parameters of a request that the types of the SDK do not have.
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

// errMalformed is the error for malformed parameters.
var errMalformed = invalid("the parameters are malformed: taskId is a string, notifications.taskIds a list of strings, and _meta an object as the protocol defines it")

// stream is a notification stream about tasks, independent of its transport.
type stream struct {
	id     jsonrpc.ID // of the request that opened it
	source Source
	can    *mcp.ClientCapabilities
	ids    []string
	tasks  []Task // as read when the stream was opened
	among  *Following
}

// about names the stream that a message belongs to.
type about struct {
	Subscription any `json:"io.modelcontextprotocol/subscriptionId"`
}

// open reads the tasks of a stream and counts them until close is called. Its errors are for the client.
func open(ctx context.Context, source Source, among *Following, id jsonrpc.ID, p *parameters) (*stream, error) {
	if !declares(p.Meta.Capabilities) {
		return nil, Required()
	}
	if len(p.Notifications.TaskIDs) > maxNamed {
		return nil, invalid("a stream can follow at most %d tasks: open another for the rest", maxNamed)
	}
	s := &stream{id: id, source: source, can: p.Meta.Capabilities, among: among}
	if err := s.lookUp(ctx, p.Notifications.TaskIDs); err != nil {
		return nil, err
	}
	return s, among.take(len(s.tasks))
}

func (s *stream) close() { s.among.leave(len(s.tasks)) }

// lookUp reads the named tasks that exist, each once.
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

// tell acknowledges the tasks of the stream, then sends each task now and whenever it changes. It returns when all tasks have ended, ctx
// has ended, or a message cannot be sent. The stream is only about tasks: the acknowledgment shows the client that it needs another
// stream for its other subscriptions.
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

// follow sends a task until it has ended.
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
			return // notifications are hints: the client can read the task
		}
	}
}

// over is the response to the request of a stream that has ended.
func over(id jsonrpc.ID) (*jsonrpc.Response, error) {
	data, err := json.Marshal(map[string]any{"resultType": "complete", "_meta": about{id.Raw()}})
	return &jsonrpc.Response{ID: id, Result: data}, err
}

// refused is the response to a request that is refused.
func refused(id jsonrpc.ID, err error) *jsonrpc.Response {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		wire = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	return &jsonrpc.Response{ID: id, Error: wire}
}
