package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func (s *commands) deadCommand() *cobra.Command {
	return shell.Group("dead", "The dead letters: tasks that nobody could take", s.deadList(), s.deadShow(), s.deadReplay(), s.deadDiscard())
}

func (s *commands) deadList() *cobra.Command {
	var f client.TaskFilter
	cmd := s.Call("list", "List the dead letters, newest first", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Dead(ctx, f)
		if err != nil {
			return err
		}
		return s.Emit(list, func(p *shell.Page) {
			var rows [][]string
			for _, t := range list.Tasks {
				cause, detail, since := "", "", ""
				if t.Parked != nil {
					cause, detail, since = t.Parked.Cause, t.Parked.Detail, shell.Clock(t.Parked.Since)
				}
				rows = append(rows, []string{t.ID, cause, since, t.Owner, shell.Clip(t.Intent, 40), shell.Clip(detail, 80)})
			}
			p.Table("There are no dead letters.", []string{"TASK", "CAUSE", "SINCE", "OWNER", "INTENT", "WHY"}, rows)
			p.More(list.Next)
		})
	})
	shell.PageFlags(cmd.Flags(), &f.Limit, &f.After)
	return cmd
}

func (s *commands) deadShow() *cobra.Command {
	return s.Call("show TASK", "Show a dead letter with all that is on record about it", cobra.ExactArgs(1),
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
				taskPage(p, t)
				p.Line("")
				p.Trail(trail.Entries)
				if t.State == client.Parked {
					p.Line("\ntrapeze dead replay %s           sends it again; --to AGENT elsewhere", t.ID)
					p.Line("trapeze dead discard %s --why …  gives it up", t.ID)
				}
			})
		})
}

func (s *commands) deadReplay() *cobra.Command {
	var in client.ReplayInput
	var deadline string
	cmd := s.Command("replay TASK", "Revive a dead letter with fresh limits, and send it again", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) (err error) {
			if err := s.Texts(&in.Note); err != nil {
				return err
			}
			if in.Deadline, err = shell.Moment("--deadline", deadline); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			r, err := c.Replay(ctx, args[0], in)
			return s.EmitReceipt(r, err)
		})
	f := cmd.Flags()
	f.StringSliceVar(&in.To, "to", nil, "new receivers (repeatable; default: those that it was meant for)")
	f.StringVar(&in.Capability, "capability", "", "what the receiver must be able to do, instead of a name")
	f.StringSliceVar(&in.Route, "route", nil, "a new route (repeatable)")
	f.StringVar(&deadline, "deadline", "", "a new deadline: 2h, or a time")
	whyFlag(f, &in.Note)
	f.BoolVar(&in.Home, "home", false, "back to its owner instead of to a receiver")
	return cmd
}

func (s *commands) deadDiscard() *cobra.Command {
	var why string
	cmd := s.Command("discard TASK --why WHY", "Give a dead letter up", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		if why == "" {
			return shell.Usagef("say why it may be dropped: --why")
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
	whyFlag(cmd.Flags(), &why)
	return cmd
}
