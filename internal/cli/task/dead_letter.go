package task

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/handoff"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// DeadLetters is the command group trapeze dead.
func DeadLetters(s *shell.Shell) *cobra.Command {
	return shell.Group("dead", "List, replay and discard the dead letters: tasks that no receiver accepted",
		deadList(s), deadShow(s), deadReplay(s), deadDiscard(s))
}

func deadList(s *shell.Shell) *cobra.Command {
	var after string
	var limit int
	cmd := s.Call("list", "List the dead letters", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Dead(ctx, after, limit)
		return s.Answer(list, err, func(p *shell.Page) {
			shell.List(p, "There are no dead letters.", []string{"TASK", "CAUSE", "SINCE", "OWNER", "INTENT", "WHY"}, list.Tasks, func(t client.TaskRow) []string {
				cause, detail, since := "", "", ""
				if t.Parked != nil {
					cause, detail, since = t.Parked.Cause, t.Parked.Detail, shell.Clock(t.Parked.Since)
				}
				return []string{t.ID, cause, since, t.Owner, shell.Clip(t.Intent, 40), shell.Clip(detail, 80)}
			})
			p.More(list.Next)
		})
	})
	cmd.Long = "List the dead letters " + order
	shell.PageFlags(cmd.Flags(), &limit, &after)
	shell.TakesIDs(cmd.Flags(), "after", "TASK")
	return cmd
}

func deadShow(s *shell.Shell) *cobra.Command {
	return s.Call("show TASK", "Show a dead letter and its record", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			t, err := c.Task(ctx, args[0])
			if err != nil {
				return err
			}
			trail, err := c.Trail(ctx, args[0])
			if err != nil {
				return err
			}
			both := struct {
				Task  client.Task  `json:"task"`
				Trail client.Trail `json:"trail"`
			}{t, trail}
			return s.Emit(both, func(p *shell.Page) {
				showTask(p, t)
				p.Line("")
				p.Trail(trail.Entries)
				if t.State == client.Parked {
					p.Line("\nTo send it again, to the same receivers or with --to AGENT, with --ask TEXT if the ask is too long for it: %s", shellword.Command("trapeze dead replay", t.ID)+largerBudget(t))
					p.Line("To give it up: %s", shellword.Command("trapeze dead discard", t.ID)+" --why WHY")
				}
			})
		})
}

// largerBudget is the flags of a replay that doubles what a task has spent of a budget that it exceeds.
func largerBudget(t client.Task) (flags string) {
	if n := t.Spent.Tokens + t.Reserved.Tokens; t.Budget.Tokens > 0 && n > t.Budget.Tokens {
		flags += fmt.Sprintf(" --budget-tokens %d", 2*n)
	}
	if n := t.Spent.Cost + t.Reserved.Cost; t.Budget.Cost > 0 && n > t.Budget.Cost {
		flags += fmt.Sprintf(" --budget-cost %d", 2*n)
	}
	return flags
}

func deadReplay(s *shell.Shell) *cobra.Command {
	var in client.ReplayInput
	var content shell.ContentFlags
	var deadline, kind string
	cmd := s.ReceiptCall("replay TASK", "Send a dead letter again, with fresh limits", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) (r client.Receipt, err error) {
			if err := s.Texts(&in.Note); err != nil {
				return r, err
			}
			if in.Deadline, err = s.Moment(ctx, "--deadline", deadline); err != nil {
				return r, err
			}
			if in.Content, err = content.Read(ctx, s, c); err != nil {
				return r, err
			}
			in.Kind = client.Kind(kind)
			return c.Replay(ctx, args[0], in)
		})
	f := cmd.Flags()
	f.StringSliceVar(&in.To, "to", nil, "new receivers (repeatable; default: the original ones)")
	f.StringVar(&in.Capability, "capability", "", "capability that the receiver must have, instead of --to")
	f.StringSliceVar(&in.Route, "route", nil, "a new route (repeatable)")
	f.StringVar(&deadline, "deadline", "", "a new deadline: a duration such as 2h, or a time")
	shell.Choice(f, &kind, "kind", "", "%s (default: as it was; to others cold if it was cold, otherwise warm)", []client.Kind{client.Warm, client.Cold, client.Supervised})
	handoff.AddBudget(f, &in.Budget, "instead of the present one")
	shell.WhyFlag(f, &in.Note)
	f.BoolVar(&in.Home, "home", false, "return it to its owner instead of a receiver")
	content.Add(f)
	return cmd
}

func deadDiscard(s *shell.Shell) *cobra.Command {
	var why string
	cmd := s.Command("discard TASK --why WHY", "Discard a dead letter", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		if why == "" {
			return shell.Usagef("give the reason with --why")
		}
		if err := s.Texts(&why); err != nil {
			return err
		}
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		r, err := c.Discard(ctx, args[0], why)
		return s.EmitReceipt(r, err)
	})
	shell.WhyFlag(cmd.Flags(), &why)
	return cmd
}
