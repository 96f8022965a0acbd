package liveness

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/park"
)

// TaskStatus is the state of a task after a call about it.
type TaskStatus struct {
	Task  string
	State client.State
	Owner string
	Epoch uint64
	Lease time.Time // end of the lease; zero if there is none
	// Stage is the stage of the newest handoff of the task.
	Stage client.Stage
	// ReadOnly says that the call only read the task.
	ReadOnly bool
}

// AfterCall returns the state of a task after a call that changed it.
func AfterCall(r client.Receipt) *TaskStatus {
	return &TaskStatus{Task: r.Task, State: r.State, Owner: r.Owner, Epoch: r.Epoch, Lease: r.Lease, Stage: r.Stage}
}

// AfterRead returns the state of a task after a call that read it.
func AfterRead(t client.Task) *TaskStatus {
	s := &TaskStatus{Task: t.ID, State: t.State, Owner: t.Owner, Epoch: t.Epoch, Lease: t.Lease, ReadOnly: true}
	if t.Handoff != nil {
		s.Stage = t.Handoff.Stage
	}
	return s
}

// Pulse sends the heartbeats of a principal that calls tools, if it is an agent. It is safe for concurrent use.
type Pulse struct {
	client *client.Client

	mu   sync.Mutex
	last time.Time
	none atomic.Bool // the principal is not an agent
}

const (
	pulseEvery = time.Second // the minimum interval of two heartbeats
	retryEvery = time.Second // the pause before a server that does not answer is called again
)

// NewPulse returns a Pulse for the principal of c.
func NewPulse(c *client.Client) *Pulse { return &Pulse{client: c} }

// Beat sends a heartbeat, at most one per second.
func (p *Pulse) Beat(ctx context.Context) {
	p.mu.Lock()
	now := time.Now()
	due := !p.none.Load() && now.Sub(p.last) >= pulseEvery
	if due {
		p.last = now
	}
	p.mu.Unlock()
	if due && errors.Is(p.client.Beat(ctx), client.Invalid) { // the call that follows reports any other failure
		p.none.Store(true)
	}
}

// Waits says how calls wait.
type Waits struct {
	Remote   bool                   // the API is in another process, which may restart: a call that waits continues after a restart
	Stopping func() context.Context // returns a context that ends when the MCP server stops or is drained: no call waits then; nil: never
}

// errStopping is the answer to a call that waited when the server stopped.
var errStopping = &client.Error{
	Code: client.Unavailable, Message: "the server is stopping or drained, and waits no longer",
	Hint: "wait a moment and call again, with wait=0 if it is refused again; what arrives meanwhile is kept for you",
}

// Until returns a context that also ends when the server stops. The caller must call done.
func (w Waits) Until(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if w.Stopping == nil {
		return ctx, func() { cancel(nil) }
	}
	open := context.AfterFunc(w.Stopping(), func() { cancel(errStopping) })
	return ctx, func() { open(); cancel(nil) }
}

type sinceKey struct{}

// Since returns a context of a call that has waited since a time, which counts as part of its wait.
func Since(ctx context.Context, t time.Time) context.Context {
	return context.WithValue(ctx, sinceKey{}, t)
}

// Park waits until there is something for a call, or its time is over, with less memory than a call of the API that waits takes. ask asks the API, which
// leaves in its context what it would wait for. The call follows with the context that Park returns, and then leave.
func (w Waits) Park(ctx context.Context, seconds int, ask func(context.Context, time.Duration) error) (_ context.Context, leave func()) {
	if _, waited := ctx.Value(sinceKey{}).(time.Time); waited || seconds <= 0 || w.Remote {
		return ctx, func() {}
	}
	began, most := time.Now(), time.Duration(seconds)*time.Second
	until, done := w.Until(ctx)
	defer done()
	for leave = func() {}; ; {
		inquiry, place := park.With(until)
		err := ask(inquiry, most)
		leave()
		leave = place.Leave
		if err != nil || !place.Wait(ctx, until, began.Add(most)) { // the call meets the same error
			return Since(ctx, began), leave
		}
	}
}

// WaitThroughRestart makes a call that waits at most so many seconds. If the API is remote and does not answer meanwhile, the call is
// repeated for the time that is left. If the server stops, a call that still waits is refused with [client.Unavailable].
func WaitThroughRestart[T any](ctx context.Context, w Waits, seconds int, do func(ctx context.Context, wait time.Duration) (T, error)) (T, error) {
	if seconds > 0 {
		var done func()
		ctx, done = w.Until(ctx)
		defer done()
	}
	began, waited := ctx.Value(sinceKey{}).(time.Time)
	if !waited {
		began = time.Now()
	}
	end := began.Add(time.Duration(seconds) * time.Second)
	left := max(time.Until(end), 0)
	for {
		v, err := do(ctx, left)
		left = time.Until(end)
		if err == nil || left <= 0 || !again(ctx, w.Remote, err, left) {
			if err != nil && (errors.Is(context.Cause(ctx), errStopping) || seconds > 0 && w.stops(err)) {
				err = errStopping
			}
			return v, err
		}
		left = max(time.Until(end), 0)
	}
}

// stops reports whether a call that waited is refused since the server stops: the API in the same process may have noticed that first.
func (w Waits) stops(err error) bool {
	return w.Stopping != nil && w.Stopping().Err() != nil && errors.Is(err, client.Unavailable)
}

// Again reports whether to repeat a call that failed, after a pause: if the server is remote and does not answer.
func Again(ctx context.Context, remote bool, err error) bool {
	return again(ctx, remote, err, retryEvery)
}

// again is Again with a pause of at most most.
func again(ctx context.Context, remote bool, err error, most time.Duration) bool {
	if !remote || ctx.Err() != nil || !client.Away(err) {
		return false
	}
	pause, stop := context.WithTimeout(ctx, min(retryEvery, most))
	defer stop()
	<-pause.Done()
	return true
}
