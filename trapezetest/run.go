package trapezetest

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/client"
)

const (
	// maxMoves bounds how often one [Server.Run] moves the clock: a chain that is not over by then never will be.
	maxMoves = 10_000
	// patience is how long [Server.Wait] waits for agents outside of the test, by the clock of the system.
	patience = time.Minute
	// glance is how long [Server.Wait] waits for a change before it lets the scripted agents look again.
	glance = 50 * time.Millisecond
)

// Run lets the scripted agents work until a task has ended or is in the dead letters, and returns what came of it. When none of them
// has anything to do, it moves the clock to the next timer: a slow answer, an offer that nobody sees, the lease of an agent that died.
// It ends the test if nothing will ever happen to the task again. Agents outside of the test would find the clock running away: see
// [Server.Wait].
func (s *Server) Run(task string) *Chain {
	s.t.Helper()
	ctx := context.Background()
	for range maxMoves {
		next := s.quiet(ctx)
		if over(s.task(ctx, task)) {
			return s.Chain(task)
		}
		for _, a := range s.agents {
			if at := a.wakes(); !at.IsZero() && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
		if next.IsZero() {
			break
		}
		s.Advance(max(next.Sub(s.Now()), time.Microsecond))
	}
	c := s.Chain(task)
	c.errorf("task %s is %s, and nothing more will happen to it", task, c.Task.State)
	return c
}

// Wait lets the scripted agents work until a task has ended or is in the dead letters, and does not move the clock: it is for chains
// with agents outside of the test. It gives up after a minute without a change.
func (s *Server) Wait(task string) *Chain {
	s.t.Helper()
	ctx := context.Background()
	seen, changed := uint64(0), time.Now()
	for {
		s.quiet(ctx)
		t := s.task(ctx, task)
		if over(t) {
			return s.Chain(task)
		}
		if t.Position != seen {
			seen, changed = t.Position, time.Now()
		}
		if time.Since(changed) > patience {
			c := s.Chain(task)
			c.errorf("task %s is %s, and nothing has happened to it for %s", task, t.State, patience)
			return c
		}
		if _, err := s.admin.WaitTask(ctx, task, t.Position, glance); err != nil {
			s.t.Fatalf("task %s: %v", task, err)
		}
	}
}

// quiet lets the scripted agents work until none of them has anything to do now, and returns when the next timer runs.
func (s *Server) quiet(ctx context.Context) (next time.Time) {
	for acted := true; acted; {
		next, acted = s.settle(), false
		for _, a := range s.agents {
			acted = a.look(ctx) || acted
			acted = a.work(ctx) || acted
		}
	}
	return next
}

func (s *Server) task(ctx context.Context, id string) client.Task {
	t, err := s.admin.Task(ctx, id)
	if err != nil {
		s.t.Fatalf("task %s: %v", id, err)
	}
	return t
}

func over(t client.Task) bool { return t.State.Final() || t.State == client.Parked }
