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
	// beatEvery is the longest between two signs of life.
	beatEvery = 30 * time.Second
	// beatSoonest is the shortest.
	beatSoonest = 100 * time.Millisecond
)

// keeper shows that the agent is present, and keeps the tasks of the session.
type keeper struct {
	c     *client.Client
	agent string
	say   func(string, ...any)
	alive context.Context //nolint:containedctx // ends with the session, whatever call a task came from
	done  sync.WaitGroup

	mu     sync.Mutex
	over   bool
	tasks  map[string]*kept
	wanted map[string]bool // accepted, and its owner must still let go
	gone   bool            // the server, as far as was said
}

// kept is a task whose lease is renewed.
type kept struct {
	epoch uint64
	lease time.Time
	every time.Duration // between two heartbeats
	stop  context.CancelFunc
}

// until takes note of a lease. One that was just given sets the pace; while none runs, that of the one before goes on.
func (t *kept) until(lease time.Time) {
	if left := time.Until(lease); left > 0 && !lease.Equal(t.lease) {
		t.lease, t.every = lease, min(max(left/3, beatSoonest), beatEvery)
	}
}

// newKeeper makes a keeper that ends with alive.
func newKeeper(alive context.Context, c *client.Client, agent string, say func(string, ...any)) *keeper {
	return &keeper{c: c, agent: agent, say: say, alive: alive, tasks: map[string]*kept{}, wanted: map[string]bool{}}
}

// begin shows that the agent is present until the session ends.
func (k *keeper) begin() { k.done.Go(k.present) }

// end waits until all has stopped.
func (k *keeper) end() {
	k.mu.Lock()
	k.over = true
	k.mu.Unlock()
	k.done.Wait()
}

// present shows that the agent is there, three times within the time after which it would count as gone.
func (k *keeper) present() {
	for {
		every := beatEvery
		a, err := k.c.Agent(k.alive, k.agent)
		if ttl := time.Duration(a.Spec.PresenceTTL); err == nil && ttl > 0 {
			every = min(max(ttl/3, beatSoonest/3), beatEvery)
		}
		if err == nil || errors.Is(err, client.NotFound) { // it may register later
			err = k.c.Beat(k.alive)
		}
		k.heard(err)
		if wire.Sleep(k.alive, every) != nil {
			return
		}
	}
}

// note keeps a task that the session did something about and that its agent owns, and lets go of one that it does not.
func (k *keeper) note(s liveness.TaskStatus) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.tasks[s.Task]
	mine := s.Owner == k.agent && !s.State.Final() && s.State != client.Parked
	switch {
	case k.over, t != nil && s.Epoch < t.epoch: // an answer that was overtaken
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

// keep begins to renew a task's lease.
func (k *keeper) keep(s liveness.TaskStatus) {
	ctx, stop := context.WithCancel(k.alive)
	t := &kept{epoch: s.Epoch, every: beatEvery / 3, stop: stop}
	t.until(s.Lease)
	k.tasks[s.Task] = t
	k.done.Go(func() { k.renew(ctx, s.Task, t) })
}

// drop lets go of a task.
func (k *keeper) drop(task string) {
	if t := k.tasks[task]; t != nil {
		t.stop()
		delete(k.tasks, task)
	}
}

// renew renews a task's lease at a third of it, until the task is another's or over.
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
			k.say("%s is not kept any more: %v", task, err)
			return
		}
		k.mu.Unlock()
	}
}

// heard says when the server goes and comes back, once each.
func (k *keeper) heard(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	gone := client.Away(err)
	if k.alive.Err() != nil || gone == k.gone {
		return
	}
	k.gone = gone
	if gone {
		k.say("the server cannot be reached, trying on: %v", err)
	} else {
		k.say("the server is back")
	}
}
