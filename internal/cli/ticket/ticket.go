package ticket

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Command is the command group trapeze ticket.
func Command(s *shell.Shell) *cobra.Command {
	return shell.Group("ticket", "Handle tickets: approvals, questions and tasks that people are asked to handle",
		ticketList(s), ticketShow(s), ticketClaim(s), Approve(s), Deny(s), ticketAnswer(s), ticketRelease(s))
}

func ticketList(s *shell.Shell) *cobra.Command {
	var f client.TicketFilter
	cmd := s.Call("list", "List the tickets that you may see, the oldest first", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Tickets(ctx, f)
		return s.Answer(list, err, func(p *shell.Page) {
			shell.List(p, "There are no tickets.", []string{"TICKET", "KIND", "STATE", "DESK", "DUE", "FROM", "WHAT"}, list.Tickets, func(k client.Ticket) []string {
				return []string{k.ID, k.Kind, k.State, deskOf(k.TicketDoc), shell.Clock(k.Due), k.By, shell.Clip(cmp.Or(k.Question, k.Intent), 60)}
			})
			p.More(list.Next)
		})
	})
	cmd.Long = `List the open and claimed tickets that you may see, the oldest first. Operators see all tickets. An agent of kind human sees those
of the desks among its capabilities. Other agents see those that they opened or that are addressed to them.`
	fs := cmd.Flags()
	shell.Choice(fs, &f.State, "state", "", "list only tickets in this state: %s", client.TicketStates())
	fs.BoolVar(&f.All, "all", false, "include closed tickets")
	shell.Choice(fs, &f.Kind, "kind", "", "list only tickets of this kind: %s", client.TicketKinds())
	fs.StringVar(&f.Desk, "desk", "", "list only tickets of this desk")
	shell.TaskFlag(fs, &f.Task, "task", "list only tickets of this task")
	shell.PageFlags(fs, &f.Limit, &f.After)
	return shell.Example(cmd, "trapeze ticket list --desk billing")
}

func ticketShow(s *shell.Shell) *cobra.Command {
	var wait shell.Duration
	cmd := s.Call("show TICKET", "Show a ticket, or wait until it is closed", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		k, err := waitFor(ctx, s, c, args[0], wait)
		return emitTicket(s, k, wait > 0, err)
	})
	waitFlag(cmd.Flags(), &wait, "wait until it is closed, at most this long")
	return shell.Example(cmd, "trapeze ticket show task_….k1 --wait")
}

func ticketClaim(s *shell.Shell) *cobra.Command {
	cmd := s.ReceiptCall("claim TICKET", "Claim a ticket; with a takeover, you then own the task", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) (client.Receipt, error) {
			r, err := c.Claim(ctx, args[0])
			if r.State == client.Executing { // the task is claimed with it
				s.Hold(r.Task, r.Owner, r.Epoch)
			}
			return r, err
		})
	cmd.Long = `Claim a ticket, so that others do not work on it: a question or an approval for a quarter of its time, a takeover until it is due.

With a takeover, you then own the task as an agent of kind human: the agent of your token, or, for an operator, the agent of the same
name. Complete the task, hand it off, or release the ticket.`
	return shell.Example(cmd, "trapeze ticket claim task_….k1 --agent zoe")
}

func ticketAnswer(s *shell.Shell) *cobra.Command {
	var in client.AnswerInput
	cmd := s.Command("answer TICKET ANSWER", "Answer a question (text, @FILE or -); the task then continues", cobra.ExactArgs(2),
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
	shell.WhyFlag(cmd.Flags(), &in.Detail)
	return shell.Example(cmd, "trapeze ticket answer task_….k1 'refund it'")
}

func ticketRelease(s *shell.Shell) *cobra.Command {
	cmd := decision(s, "release TICKET", "Return a ticket that you claimed to its desk",
		func(ctx context.Context, c *client.Client, id, why string, epoch uint64) (client.Receipt, error) {
			return c.Release(ctx, id, client.ReleaseInput{Epoch: epoch, Detail: why})
		})
	return shell.Example(cmd, "trapeze ticket release task_….k1 --why 'not my field' --agent zoe")
}

// decision makes a command with --why and --epoch about a ticket, a supervised handoff or a request to take over.
func decision(s *shell.Shell, use, short string,
	do func(ctx context.Context, c *client.Client, id, why string, epoch uint64) (client.Receipt, error),
) *cobra.Command {
	var why string
	var epoch uint64
	cmd := s.ReceiptCall(use, short, cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) (client.Receipt, error) {
		if err := s.Texts(&why); err != nil {
			return client.Receipt{}, err
		}
		id, err := requestOf(ctx, c, args[0])
		if err != nil {
			return client.Receipt{}, err
		}
		e, err := epochOf(ctx, s, c, id, epoch)
		if err != nil {
			return client.Receipt{}, err
		}
		return do(ctx, c, id, why, e)
	})
	shell.WhyFlag(cmd.Flags(), &why)
	shell.EpochFlag(cmd.Flags(), &epoch)
	return cmd
}

// requestOf returns the id of the one request of a task that waits for a decision, where the id of the task stands for it, and any other id unchanged.
func requestOf(ctx context.Context, c *client.Client, id string) (string, error) {
	if strings.Contains(id, ".") {
		return id, nil
	}
	page, err := c.Tickets(ctx, client.TicketFilter{Task: id})
	if err != nil {
		return "", err
	}
	var waiting []string
	for _, k := range page.Tickets {
		waiting = append(waiting, k.ID)
	}
	t, err := c.Task(ctx, id)
	if err != nil && (len(waiting) == 0 || !errors.Is(err, client.NotFound)) { // those who decide a ticket may see no more of its task
		return "", err
	}
	for _, r := range t.Takeovers {
		waiting = append(waiting, r.ID)
	}
	if h := t.Handoff; len(waiting) == 0 && h != nil && h.Stage == client.StageAwaitingApproval {
		waiting = append(waiting, h.ID)
	}
	switch len(waiting) {
	case 0:
		return "", shell.Hinted(shell.Usagef("nothing of %s waits for a decision", id), "trapeze ticket list and trapeze inbox list the requests that do")
	case 1:
		return waiting[0], nil
	}
	return "", shell.Usagef("several requests of %s wait for a decision: give the id of one of %s", id, strings.Join(waiting, ", "))
}

// epochOf returns the epoch for an answer to a request to take over, or to a ticket; the approval of a handoff has none. Callers
// that take no part in the task of a ticket cannot read the epoch, and need none.
func epochOf(ctx context.Context, s *shell.Shell, c *client.Client, id string, given uint64) (uint64, error) {
	task, part, _ := strings.Cut(id, ".")
	if part == "" || part[0] == 'h' {
		return given, nil
	}
	epoch, err := s.EpochOf(ctx, c, task, given)
	if part[0] == 'k' && errors.Is(err, client.NotFound) {
		return given, nil
	}
	return epoch, err
}
