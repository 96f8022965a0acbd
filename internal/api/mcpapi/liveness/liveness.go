package liveness

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// TaskStatus is how a task stands after a call about it.
type TaskStatus struct {
	Task  string
	State client.State
	Owner string
	Epoch uint64
	Lease time.Time // zero while none runs
	// Stage is that of the task's newest handoff.
	Stage client.Stage
	// ReadOnly says that the call only looked at the task, and did nothing about it.
	ReadOnly bool
}

// Of is how a task stands after a call that did something about it.
func AfterCall(r client.Receipt) *TaskStatus {
	return &TaskStatus{Task: r.Task, State: r.State, Owner: r.Owner, Epoch: r.Epoch, Lease: r.Lease, Stage: r.Stage}
}

// Seen is how a task stands that was looked at.
func AfterRead(t client.Task) *TaskStatus {
	s := &TaskStatus{Task: t.ID, State: t.State, Owner: t.Owner, Epoch: t.Epoch, Lease: t.Lease, ReadOnly: true}
	if t.Handoff != nil {
		s.Stage = t.Handoff.Stage
	}
	return s
}

// Pulse shows that a principal lives which calls tools, if it is an agent. It is safe for many goroutines.
type Pulse struct {
	client *client.Client

	mu   sync.Mutex
	last time.Time
	none atomic.Bool // it is no agent
}

const (
	pulseEvery = time.Second // the shortest between two signs of life
	retryEvery = time.Second // the pause before a server that went away is asked again
)

// NewPulse is that of the principal that c speaks for.
func NewPulse(c *client.Client) *Pulse { return &Pulse{client: c} }

// Beat shows it, unless that was done just now.
func (p *Pulse) Beat(ctx context.Context) {
	p.mu.Lock()
	now := time.Now()
	due := !p.none.Load() && now.Sub(p.last) >= pulseEvery
	if due {
		p.last = now
	}
	p.mu.Unlock()
	if due && errors.Is(p.client.Beat(ctx), client.Invalid) { // any other failure is that of the call which follows
		p.none.Store(true)
	}
}

// WaitThroughRestart makes a call that waits so many seconds. Where the server is remote, another process, and goes away meanwhile, it is asked
// again for as long as there is something left to wait.
func WaitThroughRestart[T any](ctx context.Context, remote bool, seconds int, do func(wait time.Duration) (T, error)) (T, error) {
	left := time.Duration(seconds) * time.Second
	end := time.Now().Add(left)
	for {
		v, err := do(left)
		left = time.Until(end)
		if err == nil || left <= 0 || !again(ctx, remote, err, left) {
			return v, err
		}
		left = max(time.Until(end), 0)
	}
}

// Again reports whether a call that failed is worth making again, after a pause: where the server is remote, and away.
func Again(ctx context.Context, remote bool, err error) bool {
	return again(ctx, remote, err, retryEvery)
}

// again is Again with a pause that is no longer than most.
func again(ctx context.Context, remote bool, err error, most time.Duration) bool {
	if !remote || ctx.Err() != nil || !client.Away(err) {
		return false
	}
	pause, stop := context.WithTimeout(ctx, min(retryEvery, most))
	defer stop()
	<-pause.Done()
	return true
}
