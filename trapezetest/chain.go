package trapezetest

import (
	"context"
	"slices"

	"github.com/trapezehq/trapeze/client"
)

// Chain is what came of a task. Its methods that assert something return whether it holds, and go on if it does not.
type Chain struct {
	Task  client.Task
	Hops  []Hop        // the changes of hands, in order
	Trail client.Trail // the whole record

	s    *Server
	dead []client.TaskRow
	told bool // the story was printed
}

// Chain reads what has come of a task so far.
func (s *Server) Chain(task string) *Chain {
	s.t.Helper()
	ctx := context.Background()
	c := &Chain{s: s, Task: s.task(ctx, task)}
	var err error
	if c.Trail, err = s.admin.Trail(ctx, task); err != nil {
		s.t.Fatalf("the record of task %s: %v", task, err)
	}
	if c.Hops, err = hopsOf(c.Trail); err != nil {
		s.t.Fatalf("the record of task %s: %v", task, err)
	}
	dead, err := s.admin.Dead(ctx, "", 500)
	if err != nil {
		s.t.Fatalf("the dead letters: %v", err)
	}
	c.dead = dead.Tasks
	return c
}

// Holders are the agents that owned the task, in order. An agent that got it twice is there twice.
func (c *Chain) Holders() []string {
	var names []string
	for _, v := range c.Task.Path {
		names = append(names, v.Agent)
	}
	return names
}

// Tokens is what the prompt of the receiver had at each hop; 0: it was not counted, since the receiver has no context window.
func (c *Chain) Tokens() []int {
	counts := make([]int, len(c.Hops))
	for i, h := range c.Hops {
		counts[i] = h.Tokens
	}
	return counts
}

// remarks are what the scripted agents met with at this task.
func (c *Chain) remarks() (lines []event) {
	for _, a := range c.s.agents {
		for _, r := range a.remarks {
			if r.task == c.Task.ID {
				lines = append(lines, event{r.at, a.name, r.text})
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b event) int { return a.at.Compare(b.at) })
	return lines
}

// errorf reports a failed assertion, with the chain's story the first time.
func (c *Chain) errorf(format string, args ...any) bool {
	c.s.t.Helper()
	c.s.t.Errorf(format, args...)
	if !c.told {
		c.told = true
		c.s.t.Logf("%s", c.Story())
	}
	return false
}
