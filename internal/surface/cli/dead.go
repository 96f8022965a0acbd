package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
)

func (s *shell) deadCommand() *cobra.Command {
	return group("dead", "The dead letters: tasks that nobody could take", s.deadList(), s.deadShow(), s.deadReplay(), s.deadDiscard())
}

func (s *shell) deadList() *cobra.Command {
	var f client.TaskFilter
	cmd := s.call("list", "List the dead letters, newest first", noArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Dead(ctx, f)
		if err != nil {
			return err
		}
		return s.emit(list, func(p *page) {
			var rows [][]string
			for _, t := range list.Tasks {
				cause, detail, since := "", "", ""
				if t.Parked != nil {
					cause, detail, since = t.Parked.Cause, t.Parked.Detail, clock(t.Parked.Since)
				}
				rows = append(rows, []string{t.ID, cause, since, t.Owner, clip(t.Intent, 40), clip(detail, 80)})
			}
			p.table("There are no dead letters.", []string{"TASK", "CAUSE", "SINCE", "OWNER", "INTENT", "WHY"}, rows)
			if list.Next != "" {
				p.line("There are more: --after %s", list.Next)
			}
		})
	})
	pageFlags(cmd, &f)
	return cmd
}

func (s *shell) deadShow() *cobra.Command {
	return s.call("show TASK", "Show a dead letter with all that is on record about it", cobra.ExactArgs(1),
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
			return s.emit(both, func(p *page) {
				taskPage(p, t)
				p.line("")
				trailTable(p, trail.Entries)
				if t.State == client.Parked {
					p.line("\ntrapeze dead replay %s           sends it again; --to AGENT elsewhere", t.ID)
					p.line("trapeze dead discard %s --why …  gives it up", t.ID)
				}
			})
		})
}

func (s *shell) deadReplay() *cobra.Command {
	var in client.ReplayInput
	var deadline string
	cmd := s.command("replay TASK", "Revive a dead letter with fresh limits, and send it again", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) (err error) {
			if in.Deadline, err = moment("--deadline", deadline); err != nil {
				return err
			}
			c, err := s.dial(ctx)
			if err != nil {
				return err
			}
			r, err := c.Replay(ctx, args[0], in)
			return s.emitReceipt(r, err)
		})
	f := cmd.Flags()
	f.StringSliceVar(&in.To, "to", nil, "new receivers (repeatable; default: those that it was meant for)")
	f.StringVar(&in.Capability, "capability", "", "what the receiver must be able to do, instead of a name")
	f.StringSliceVar(&in.Route, "route", nil, "a new route (repeatable)")
	f.StringVar(&deadline, "deadline", "", "a new deadline: 2h, or a time")
	f.StringVar(&in.Note, "note", "", "why")
	f.BoolVar(&in.Home, "home", false, "back to its owner instead of to a receiver")
	return cmd
}

func (s *shell) deadDiscard() *cobra.Command {
	var why string
	cmd := s.command("discard TASK --why WHY", "Give a dead letter up", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		if why == "" {
			return usagef("say why it may be dropped: --why")
		}
		c, err := s.dial(ctx)
		if err != nil {
			return err
		}
		r, err := c.Discard(ctx, args[0], why)
		return s.emitReceipt(r, err)
	})
	cmd.Flags().StringVar(&why, "why", "", "why it may be dropped")
	return cmd
}
