package stdio

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/wire"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
)

const (
	// beatEvery is the maximum time between two heartbeats.
	beatEvery = 30 * time.Second
	// minBeat is the minimum time between two heartbeats.
	minBeat = 100 * time.Millisecond
)

// keeper reports that the agent is present, and renews the leases of the session's tasks.
type keeper struct {
	c     *client.Client
	agent string
	say   func(string, ...any)
	alive context.Context //nolint:containedctx // ends with the session
	done  sync.WaitGroup

	mu     sync.Mutex
	over   bool
	tasks  map[string]*kept
	wanted map[string]bool // accepted, but not confirmed by the sender yet
	gone   bool            // the server cannot be reached, which was reported
}

// kept is a task whose lease is renewed.
type kept struct {
	epoch uint64
	lease time.Time
	every time.Duration // between two heartbeats
	stop  context.CancelFunc
}

// until notes a lease. A new lease sets the time between heartbeats.
func (t *kept) until(lease time.Time) {
	if left := time.Until(lease); left > 0 && !lease.Equal(t.lease) {
		t.lease, t.every = lease, min(max(left/3, minBeat), beatEvery)
	}
}

// newKeeper makes a keeper that ends with alive.
func newKeeper(alive context.Context, c *client.Client, agent string, say func(string, ...any)) *keeper {
	return &keeper{c: c, agent: agent, say: say, alive: alive, tasks: map[string]*kept{}, wanted: map[string]bool{}}
}

// begin reports that the agent is present until the session ends.
func (k *keeper) begin() { k.done.Go(k.present) }

// end waits until all heartbeats have stopped.
func (k *keeper) end() {
	k.mu.Lock()
	k.over = true
	k.mu.Unlock()
	k.done.Wait()
}

// present reports that the agent is present, three times within its presence TTL.
func (k *keeper) present() {
	for {
		every := beatEvery
		a, err := k.c.Agent(k.alive, k.agent)
		if ttl := time.Duration(a.Spec.PresenceTTL); err == nil && ttl > 0 {
			every = min(max(ttl/3, minBeat/3), beatEvery)
		}
		if err == nil || errors.Is(err, client.NotFound) { // it may be registered later
			err = k.c.Beat(k.alive)
		}
		k.heard(err)
		if wire.Sleep(k.alive, every) != nil {
			return
		}
	}
}

// note starts to renew the lease of a task that the session changed and that its agent owns, and stops for a task that it does not own.
func (k *keeper) note(s liveness.TaskStatus) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.tasks[s.Task]
	mine := s.Owner == k.agent && !s.State.Final() && s.State != client.Parked
	switch {
	case k.over, t != nil && s.Epoch < t.epoch: // an outdated answer
	case t != nil && mine && s.Epoch == t.epoch:
		if !s.ReadOnly {
			t.until(s.Lease)
		}
	default:
		k.drop(s.Task)
		if mine && (!s.ReadOnly || t != nil || k.wanted[s.Task]) {
			k.keep(s)
		}
		switch {
		case mine || s.Stage != client.StageAccepted:
			delete(k.wanted, s.Task)
		case !s.ReadOnly:
			k.wanted[s.Task] = true
		}
	}
}

// keep starts to renew a task's lease.
func (k *keeper) keep(s liveness.TaskStatus) {
	ctx, stop := context.WithCancel(k.alive)
	t := &kept{epoch: s.Epoch, every: beatEvery / 3, stop: stop}
	t.until(s.Lease)
	k.tasks[s.Task] = t
	k.done.Go(func() { k.renew(ctx, s.Task, t) })
}

// drop stops to renew a task's lease.
func (k *keeper) drop(task string) {
	if t := k.tasks[task]; t != nil {
		t.stop()
		delete(k.tasks, task)
	}
}

// renew renews a task's lease after a third of it, until the agent does not own the task any more.
func (k *keeper) renew(ctx context.Context, task string, t *kept) {
	defer t.stop()
	for {
		k.mu.Lock()
		every := t.every
		k.mu.Unlock()
		if wire.Sleep(ctx, every) != nil {
			return
		}
		r, err := k.c.Heartbeat(ctx, task, t.epoch)
		if ctx.Err() != nil {
			return
		}
		k.heard(err)
		k.mu.Lock()
		switch {
		case err == nil:
			t.until(r.Lease)
		case !client.Away(err):
			if k.tasks[task] == t {
				k.drop(task)
			}
			k.mu.Unlock()
			k.say("the lease of %s is not renewed any more: %v", task, err)
			return
		}
		k.mu.Unlock()
	}
}

// heard reports when the server cannot be reached, and when it is back, once each.
func (k *keeper) heard(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	gone := client.Away(err)
	if k.alive.Err() != nil || gone == k.gone {
		return
	}
	k.gone = gone
	if gone {
		k.say("the server cannot be reached, retrying: %v", err)
	} else {
		k.say("the server is back")
	}
}
