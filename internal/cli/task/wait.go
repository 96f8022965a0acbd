package task

import (
	"context"
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// waitAndShow waits for the end of a task, if wait is not 0, and prints the task.
func waitAndShow(ctx context.Context, s *shell.Shell, c *client.Client, id string, wait time.Duration) (client.Task, error) {
	t, err := waitFor(ctx, s, c, id, wait)
	return t, s.Answer(t, err, func(p *shell.Page) {
		showTask(p, t)
		if wait == 0 {
			return
		}
		if line := standing(t); line != "" {
			p.Line("\n%s", line)
		}
		if !atRest(t) {
			p.Line("\nThe task has not ended yet. Wait again with: %s", shellword.Command("trapeze task show", t.ID)+" --wait")
		}
	})
}

// WaitForEnd waits for the end of a task that the command has created or handed off, and prints it. One that was not completed is an error.
func WaitForEnd(ctx context.Context, s *shell.Shell, c *client.Client, id string, wait time.Duration) error {
	t, err := waitAndShow(ctx, s, c, id, wait)
	switch {
	case err != nil: // another call would make a second one
		s.Notef("task %s is there; wait for it with: %s", id, shellword.Command("trapeze task show", id)+" --wait")
		return err
	case t.State == client.Completed:
		return nil
	case !atRest(t):
		return refusal.New(refusal.Unavailable, "wait again with: "+shellword.Command("trapeze task show", id)+" --wait", "task %s has not ended yet", id)
	case t.State == client.Parked:
		return shell.Hinted(fmt.Errorf("task %s is in the dead letters", id), "an operator can replay it: "+shellword.Command("trapeze dead replay", id))
	}
	return shell.Hinted(fmt.Errorf("task %s is %s, not completed", id, t.State), "see how it came about: "+shellword.Command("trapeze audit show", id))
}

// waitFor waits for the end of a task, and says on standard error, whenever that changes, who has it and what it waits for.
func waitFor(ctx context.Context, s *shell.Shell, c *client.Client, id string, wait time.Duration) (client.Task, error) {
	if wait == 0 {
		return c.Task(ctx, id)
	}
	var said string
	var after uint64
	return shell.WaitThrough(ctx, s, c, wait, func(ctx context.Context, wait time.Duration) (client.Task, bool, error) {
		if after == 0 { // the first look is at what there is
			t, err := c.Task(ctx, id)
			if err != nil {
				return t, false, err
			}
			if atRest(t) {
				t, err = c.WaitTask(ctx, id, 0, wait) // the wait is what marks a notice of the end as seen
				return t, atRest(t), err
			}
			after = t.Position
			said = say(s, said, t)
		}
		t, err := c.WaitTask(ctx, id, after, wait)
		if err == nil {
			after, said = t.Position, say(s, said, t)
		}
		return t, atRest(t), err
	})
}

// say says where a task stands, unless it has said so.
func say(s *shell.Shell, said string, t client.Task) string {
	now := standing(t)
	if now != said && !atRest(t) && !s.Flags.Quiet {
		s.Notef("%s", now)
	}
	return now
}

// atRest reports whether a task stays as it is unless somebody acts.
func atRest(t client.Task) bool { return t.State.Final() || t.State == client.Parked }
