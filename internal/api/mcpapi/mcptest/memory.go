package mcptest

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/taskext"
)

// Memory is a [taskext.Source] whose tasks are goroutines: what the suite's tools begin, and what tests need.
type Memory struct {
	mu    sync.Mutex
	tasks map[string]*running
}

// running is a task. The lock of its Memory guards it.
type running struct {
	taskext.Task
	cancel  context.CancelFunc
	given   map[string]*mcp.ElicitResult
	changed chan struct{} // closed and replaced at every change
}

// NewMemory makes an empty one.
func NewMemory() *Memory { return &Memory{tasks: map[string]*running{}} }

// Ask puts questions to a task's client and waits until all are answered, or the task is cancelled.
type Ask func(questions map[string]*mcp.ElicitParams) map[string]*mcp.ElicitResult

// Work is what a task does. An error fails it.
type Work func(ctx context.Context, ask Ask) (*mcp.CallToolResult, error)

// Begin starts a task and returns its handle.
func (m *Memory) Begin(do Work) string {
	ctx, cancel := context.WithCancel(context.Background())
	now := time.Now()
	r := &running{cancel: cancel, changed: make(chan struct{}), given: map[string]*mcp.ElicitResult{}}
	r.Task = taskext.Task{ID: uuid.NewString(), Status: taskext.Working, Created: now, Updated: now, TTL: time.Hour, Poll: time.Second}
	m.mu.Lock()
	m.tasks[r.ID] = r
	m.mu.Unlock()
	go func() {
		defer cancel()
		result, err := do(ctx, func(q map[string]*mcp.ElicitParams) map[string]*mcp.ElicitResult { return m.ask(ctx, r, q) })
		m.change(r, func() {
			var wire *jsonrpc.Error
			switch {
			case ctx.Err() != nil:
				r.Status = taskext.Cancelled
			case errors.As(err, &wire):
				r.Status, r.Err = taskext.Failed, wire
			case err != nil:
				r.Status, r.Err = taskext.Failed, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
			default:
				r.Status, r.Result = taskext.Completed, result
			}
		})
	}()
	return r.ID
}

// change changes a task that has not ended, and wakes the calls that wait for it.
func (m *Memory) change(r *running, how func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Status.Final() {
		return
	}
	how()
	r.Updated = time.Now()
	close(r.changed)
	r.changed = make(chan struct{})
}

func (m *Memory) ask(ctx context.Context, r *running, q map[string]*mcp.ElicitParams) map[string]*mcp.ElicitResult {
	m.change(r, func() { r.Status, r.Questions = taskext.InputRequired, maps.Clone(q) })
	for {
		m.mu.Lock()
		open, given, wake := len(r.Questions), maps.Clone(r.given), r.changed
		m.mu.Unlock()
		if open == 0 {
			return given
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return nil
		}
	}
}

func (m *Memory) find(id string) (*running, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.tasks[id]
	if !ok {
		return nil, taskext.ErrUnknown
	}
	return r, nil
}

// Get implements [taskext.Source].
func (m *Memory) Get(_ context.Context, id string) (taskext.Task, error) {
	t, _, err := m.look(id)
	return t, err
}

// look is a task as it is, and what is closed when it changes.
func (m *Memory) look(id string) (taskext.Task, <-chan struct{}, error) {
	r, err := m.find(id)
	if err != nil {
		return taskext.Task{}, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := r.Task
	t.Questions = maps.Clone(t.Questions)
	return t, r.changed, nil
}

// Answer implements [taskext.Source].
func (m *Memory) Answer(_ context.Context, id string, answers map[string]*mcp.ElicitResult) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	m.change(r, func() {
		for key, a := range answers {
			if _, open := r.Questions[key]; open {
				r.given[key] = a
				delete(r.Questions, key)
			}
		}
		if r.Status == taskext.InputRequired && len(r.Questions) == 0 {
			r.Status = taskext.Working
		}
	})
	return nil
}

// Cancel implements [taskext.Source].
func (m *Memory) Cancel(_ context.Context, id string) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	m.change(r, func() { r.Status = taskext.Cancelled })
	r.cancel()
	return nil
}

// Changed implements [taskext.Source].
func (m *Memory) Changed(ctx context.Context, seen taskext.Task) (taskext.Task, error) {
	for {
		t, changed, err := m.look(seen.ID)
		if err != nil || !t.Updated.Equal(seen.Updated) || t.Status != seen.Status {
			return t, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return taskext.Task{}, ctx.Err()
		}
	}
}

// Close ends all tasks that are under way.
func (m *Memory) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.tasks {
		r.cancel()
	}
}
