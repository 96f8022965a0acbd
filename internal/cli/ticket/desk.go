package ticket

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Commands are the commands of this room, for a root that the shell is bound to. Approve and deny stand there and below
// ticket: they are the same, and take the id of a handoff, of a ticket, or of an ask to take over.
func Commands(s *shell.Shell) []*cobra.Command {
	return []*cobra.Command{ask(s), tickets(s), approve(s), deny(s)}
}

func tickets(s *shell.Shell) *cobra.Command {
	return shell.Group("ticket", "What people are asked: approvals, questions, tasks to take over",
		ticketList(s), ticketShow(s), ticketClaim(s), approve(s), deny(s), ticketAnswer(s), ticketRelease(s))
}

func ticketList(s *shell.Shell) *cobra.Command {
	var f client.TicketFilter
	cmd := s.Call("list", "List the tickets that you may see, the oldest first", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Tickets(ctx, f)
		if err != nil {
			return err
		}
		return s.Emit(list, func(p *shell.Page) {
			var rows [][]string
			for _, k := range list.Tickets {
				rows = append(rows, []string{k.ID, k.Kind, k.State, whose(k.TicketDoc), shell.Clock(k.Due), k.By, shell.Clip(k.Question, 60)})
			}
			p.Table("Nobody is asked anything.", []string{"TICKET", "KIND", "STATE", "DESK", "DUE", "FROM", "QUESTION"}, rows)
			p.More(list.Next)
		})
	})
	cmd.Long = `List the tickets that you may see, the oldest first: open and claimed ones, unless you ask for others. Operators see all;
an agent of kind human sees those of the desks that are among its capabilities; any agent those that it asked or is asked.`
	fs := cmd.Flags()
	fs.StringVar(&f.State, "state", "", "open, claimed or closed")
	fs.BoolVar(&f.All, "all", false, "closed ones too")
	fs.StringVar(&f.Kind, "kind", "", "approval, question or takeover")
	fs.StringVar(&f.Desk, "desk", "", "of this desk only")
	fs.StringVar(&f.Task, "task", "", "of this task only")
	shell.PageFlags(fs, &f.Limit, &f.After)
	return example(cmd, "trapeze ticket list --desk billing")
}

func ticketShow(s *shell.Shell) *cobra.Command {
	var wait shell.Duration
	cmd := s.Call("show TICKET", "Show a ticket, and wait for its end", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		k, err := waitFor(ctx, c, args[0], wait)
		return emitTicket(s, k, wait > 0, err)
	})
	waitFlag(cmd.Flags(), &wait, "wait until it is closed, at most this long")
	return example(cmd, "trapeze ticket show task_….k1 --wait")
}

func ticketClaim(s *shell.Shell) *cobra.Command {
	cmd := s.Call("claim TICKET", "Take a ticket on; the task of a takeover becomes yours", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			r, err := c.Claim(ctx, args[0])
			return s.EmitReceipt(r, err)
		})
	cmd.Long = `Take a ticket on, so that others leave it alone: a question or an approval for a quarter of its time, a takeover until it is
due. The task of a takeover is then owned by you as an agent of kind human: with its token, or, for an operator, by the agent
of the same name. Complete it, hand it on, or release the ticket.`
	return example(cmd, "trapeze ticket claim task_….k1 --agent zoe")
}

func ticketAnswer(s *shell.Shell) *cobra.Command {
	var in client.AnswerInput
	cmd := s.Command("answer TICKET ANSWER", "Answer a question (text, @FILE or -); the task goes on with it", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			if err := s.Texts(&args[1], &in.Detail); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			in.Answer = args[1]
			r, err := c.Answer(ctx, args[0], in)
			return s.EmitReceipt(r, err)
		})
	whyFlag(cmd.Flags(), &in.Detail)
	return example(cmd, "trapeze ticket answer task_….k1 'refund it'")
}

func ticketRelease(s *shell.Shell) *cobra.Command {
	var in client.ReleaseInput
	cmd := s.Call("release TICKET", "Give a ticket that you claimed back to its desk", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) (err error) {
			if err := s.Texts(&in.Detail); err != nil {
				return err
			}
			if in.Epoch, err = epochOf(ctx, s, c, args[0], in.Epoch); err != nil {
				return err
			}
			r, err := c.Release(ctx, args[0], in)
			return s.EmitReceipt(r, err)
		})
	whyFlag(cmd.Flags(), &in.Detail)
	shell.EpochFlag(cmd.Flags(), &in.Epoch)
	return example(cmd, "trapeze ticket release task_….k1 --why 'not my field' --agent zoe")
}

// whyFlag defines --why, the words of whoever acts.
func whyFlag(f *pflag.FlagSet, why *string) {
	f.StringVar(why, "why", "", "why, in words (text, @FILE or -)")
}

// example gives a command its example.
func example(cmd *cobra.Command, text string) *cobra.Command {
	cmd.Example = "  " + text
	return cmd
}
