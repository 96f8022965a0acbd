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
//
// The wait is over, too, once the task is so that it is waited for in vain.
func waitAndShow(ctx context.Context, s *shell.Shell, c *client.Client, id string, wait time.Duration, inVain func(client.Task) bool) (client.Task, error) {
	t, err := waitFor(ctx, s, c, id, wait, inVain)
	if err == nil {
		s.Showed(t)
	}
	return t, s.Answer(t, err, func(p *shell.Page) {
		showTask(p, t)
		if wait == 0 {
			return
		}
		switch line, forOthers := standing(t); {
		case forOthers:
			p.Line("\n%s", line)
		case line != "":
			p.Line("")
			p.Next("%s", line)
		}
		if !atRest(t) && !inVain(t) {
			p.Line("")
			p.Next("The task has not ended yet. Wait again with: %s", shellword.Command("trapeze task show", t.ID)+" --wait")
		}
	})
}

// WaitForEnd waits for the end of a task that the command has created or handed off, and prints it. One that was not completed is an error.
func WaitForEnd(ctx context.Context, s *shell.Shell, c *client.Client, id string, wait time.Duration) error {
	t, err := waitAndShow(ctx, s, c, id, wait, back)
	switch {
	case err != nil: // another call would make a second one
		s.Notef("task %s is there; wait for it with: %s", id, shellword.Command("trapeze task show", id)+" --wait")
		return err
	case t.State == client.Completed:
		return nil
	case back(t):
		return shell.Hinted(fmt.Errorf("task %s came back: its handoff was %s", id, t.Handoff.Stage), "hand it off again: "+shellword.Command("trapeze send", id)+" --to NAME")
	case !atRest(t):
		return refusal.New(refusal.Unavailable, "wait again with: "+shellword.Command("trapeze task show", id)+" --wait", "task %s has not ended yet", id)
	case t.State == client.Parked:
		return shell.Hinted(fmt.Errorf("task %s is in the dead letters", id), "an operator can replay it: "+shellword.Command("trapeze dead replay", id))
	}
	return shell.Hinted(fmt.Errorf("task %s is %s, not completed", id, t.State), "see how it came about: "+shellword.Command("trapeze audit show", id))
}

// waitFor waits for the end of a task, and says on standard error, whenever that changes, who has it and what it waits for.
func waitFor(ctx context.Context, s *shell.Shell, c *client.Client, id string, wait time.Duration, inVain func(client.Task) bool) (client.Task, error) {
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
			if inVain(t) {
				return t, true, nil
			}
		}
		t, err := c.WaitTask(ctx, id, after, wait)
		if err == nil {
			after, said = t.Position, say(s, said, t)
		}
		return t, atRest(t) || inVain(t), err
	})
}

// say says where a task stands, unless it has said so.
func say(s *shell.Shell, said string, t client.Task) string {
	now, forOthers := standing(t)
	switch {
	case now == said || atRest(t) || s.Flags.Quiet:
	case forOthers:
		s.Note(now)
	default:
		s.Notef("%s", now)
	}
	return now
}

// back reports whether a task that was handed off came back to its sender, or to nobody, so that only another handoff can get it done.
func back(t client.Task) bool {
	h := t.Handoff
	if h == nil || t.State == client.HandingOff || t.State == client.Waiting || atRest(t) || t.Ticket != nil && t.Ticket.Open() {
		return false
	}
	over := h.Stage == client.StageRejected || h.Stage == client.StageExpired || h.Stage == client.StageFailed || h.Stage == client.StageCancelled
	return over && (t.Owner == "" || t.Owner == h.From)
}

// anyhow is for a wait that a state other than the end does not make vain: somebody else may hand the task off.
func anyhow(client.Task) bool { return false }

// atRest reports whether a task stays as it is unless somebody acts.
func atRest(t client.Task) bool { return t.State.Final() || t.State == client.Parked }
