package ticket

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// defaultWait is how long --wait waits without a value: less than the usual timeouts of programs that call others.
const defaultWait = 50 * time.Second

// Ask is the command trapeze ask.
func Ask(s *shell.Shell) *cobra.Command {
	var in client.AskInput
	var within, wait shell.Duration
	cmd := s.Command("ask [TASK] QUESTION", "Ask people a question about your task (text, @FILE or -)", cobra.RangeArgs(1, 2),
		func(ctx context.Context, args []string) error {
			task, rest, err := s.TaskArg(args, 1)
			if err != nil {
				return err
			}
			if err := s.Texts(&rest[0]); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			in.Question, in.Within = rest[0], client.Duration(within)
			if in.Epoch, err = s.EpochOf(ctx, c, task, in.Epoch); err != nil {
				return err
			}
			r, err := c.Ask(ctx, task, in)
			if err != nil || wait == 0 {
				return emitAsked(s, r, err)
			}
			k, err := waitFor(ctx, s, c, r.Ticket, wait)
			if err == nil && !k.Open() {
				// The answer is printed. If the record cannot say so now, the inbox has an item more.
				_, _ = c.Told(client.WithKey(ctx, ""), task, in.Epoch)
			}
			return emitTicket(s, k, true, err)
		})
	cmd.Long = `Ask people a question about a task that you own. The command prints the ID of a ticket. Meanwhile the task waits; you own it again,
at the same epoch, when the question is answered or its time is over. The answer is part of the history of every later envelope.

--wait waits up to 50s for the answer; --wait=10m waits longer. With --quiet the command prints the answer alone, and fails if there
is none.`
	f := cmd.Flags()
	f.StringArrayVar(&in.Options, "option", nil, "possible answer; with options, the answer must be one of them (repeatable)")
	f.StringVar(&in.Desk, "desk", "", "desk whose people are asked (default: the operators)")
	f.StringVar(&in.To, "to", "", "ask a single agent or person, by name")
	f.Var(&within, "within", "how long each desk may take, such as 2h (default: --answer-timeout of the task)")
	waitFlag(f, &wait, "wait for the answer, at most this long")
	shell.EpochFlag(f, &in.Epoch)
	return shell.Example(cmd, "trapeze ask TASK 'refund it?' --option yes --option no --desk billing --wait")
}

func waitFlag(f *pflag.FlagSet, wait *shell.Duration, what string) {
	f.Var(wait, "wait", what)
	f.Lookup("wait").NoOptDefVal = defaultWait.String()
}

// waitFor fetches a ticket once it is closed, or when the time is over.
func waitFor(ctx context.Context, s *shell.Shell, c *client.Client, id string, wait shell.Duration) (client.Ticket, error) {
	return shell.WaitThrough(ctx, s, c, time.Duration(wait), func(ctx context.Context, wait time.Duration) (client.Ticket, bool, error) {
		k, err := c.Ticket(ctx, id, min(wait, defaultWait).Truncate(time.Millisecond))
		return k, !k.Open(), err
	})
}

func emitAsked(s *shell.Shell, r client.Receipt, err error) error {
	return s.Answer(r, err, func(p *shell.Page) {
		p.Receipt(r)
		p.Next("Wait for the answer with: %s", shellword.Command("trapeze ticket show", r.Ticket)+" --wait")
	})
}

func emitTicket(s *shell.Shell, k client.Ticket, waited bool, err error) error {
	if err != nil {
		return err
	}
	if waited && s.Flags.Quiet {
		return answerOf(s, k)
	}
	return s.Emit(k, func(p *shell.Page) {
		p.Fields([]shell.Field{
			{"ticket", k.ID},
			{"kind", k.Kind},
			{"state", strings.TrimSpace(k.State + " " + k.Outcome)},
			{"desk", deskOf(k.TicketDoc)},
			{"from", k.By},
			{"question", k.Question},
			{"options", shell.Names(k.Options)},
			{"task", k.Task},
			{"handoff", handoffOf(k)},
			{"intent", shell.Clip(k.Intent, 500)},
			{"envelope", k.Envelope},
			{"opened", shell.Clock(k.Opened)},
			{"due", due(k)},
			{"claimed by", k.ClaimedBy},
			{"you may", strings.Join(k.Verbs, ", ")},
			{"kept until", shell.Clock(k.Kept)},
			{"answer", k.Answer},
			{"by", k.ClosedBy},
			{"why", k.Detail},
			{"closed", shell.Clock(k.Closed)},
		})
		if k.Kind == string(event.TicketApproval) && k.Open() {
			p.Next("To see the envelope: %s", shellword.Command("trapeze envelope show", handoffOf(k)))
		}
		if waited && k.Open() {
			p.Next("The ticket is still open. Wait again with: %s", shellword.Command("trapeze ticket show", k.ID)+" --wait")
		}
	})
}

// handoffOf is the ID of the handoff to approve; empty for other tickets.
func handoffOf(k client.Ticket) string {
	if k.Handoff == 0 {
		return ""
	}
	return event.HandoffID(k.Task, k.Handoff)
}

// answerOf prints the answer alone, for scripts.
func answerOf(s *shell.Shell, k client.Ticket) error {
	switch {
	case k.Outcome == string(event.TicketAnswered):
		return s.EmitText(k.Answer + "\n")
	case k.Open():
		return refusal.New(refusal.Unavailable, "wait again with: "+shellword.Command("trapeze ticket show", k.ID)+" --wait --quiet", "ticket %s is still open", k.ID)
	}
	return refusal.New(refusal.Conflict, "to see it: "+shellword.Command("trapeze ticket show", k.ID), "ticket %s is closed without an answer: %s", k.ID, k.Outcome)
}

func due(k client.Ticket) string {
	if !k.Open() {
		return ""
	}
	return shell.Clock(k.Due)
}

// deskOf is the desk that is asked, and the name that the ticket is addressed to.
func deskOf(k client.TicketDoc) string {
	if k.To != "" {
		return k.Desk + " (" + k.To + ")"
	}
	return k.Desk
}
