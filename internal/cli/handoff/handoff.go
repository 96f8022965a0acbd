package handoff

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/policy"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Command is the command group trapeze handoff.
func Command(s *shell.Shell) *cobra.Command {
	return shell.Group("handoff", "Show a handoff, apply its git working tree, or withdraw it",
		show(s), apply(s), Cancel(s, "withdraw HANDOFF", "Withdraw a handoff in progress, as its sender"))
}

func show(s *shell.Shell) *cobra.Command {
	var document bool
	cmd := s.Call("show HANDOFF", "Show a handoff; the id of a task is that of its newest one", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		if document {
			d, err := c.HandoffDocument(ctx, args[0])
			return s.Answer(d, err, func(p *shell.Page) { showDocument(p, d) })
		}
		h, err := c.Handoff(ctx, args[0])
		return s.Answer(h, err, func(p *shell.Page) { Show(p, h) })
	})
	cmd.Flags().BoolVar(&document, "document", false, "show all that is recorded of it: also its envelope, the task's priority and dependencies, and its trail")
	return cmd
}

// showDocument prints all that is recorded of a handoff.
func showDocument(p *shell.Page, d client.HandoffDocument) {
	Show(p, d.Handoff)
	permissions := "not restricted"
	if d.Permissions != nil {
		permissions = cmp.Or(shell.Names(d.Permissions), "none")
	}
	p.Fields([]shell.Field{
		{"task", d.Task},
		{"priority", string(d.Priority)},
		{"answer within", client.Duration(time.Duration(d.Timeout) * time.Second).String()},
		{"permissions", permissions},
		{"depends on", shell.Names(d.Dependencies)},
		{"envelope", d.Envelope},
		{"given", d.Given},
	})
	if len(d.Context) > 0 {
		p.Line("\nIts envelope:")
		p.Block(shell.Indented(d.Context))
	}
	p.Line("")
	p.Trail(d.Entries)
}

// Show prints the state of a handoff.
func Show(p *shell.Page, h client.Handoff) {
	var candidates []string
	for _, c := range h.Candidates {
		who := c.Agent
		if c.Desk != "" {
			who = "human:" + c.Desk
		}
		candidates = append(candidates, who+" ("+c.Tier+")")
	}
	p.Fields([]shell.Field{
		{"handoff", h.ID},
		{"stage", string(h.Stage)},
		{"kind", string(h.Kind)},
		{"from", h.From},
		{toOf(h), shell.Names(h.To)},
		{"offer", shell.Number(h.Offer)},
		{"seen by", shell.Names(h.SeenBy)},
		{"receiver", h.Receiver},
		{"reason", string(h.Reason)},
		{"detail", h.Detail},
		{"candidates", shell.Names(candidates)},
		{"requested", shell.Clock(h.Requested)},
		{"offer ends", shell.Clock(h.OfferEnds)},
		{"ack due", shell.Clock(h.AckEnds)},
		{"next try", shell.Clock(h.RetryAt)},
		{"approval ends", shell.Clock(h.ApprovalEnds)},
		{"approver", h.Approver},
		{"confirm due", shell.Clock(h.ConfirmEnds)},
		{"ended", shell.Clock(h.Ended)},
		{"channel", h.Channel},
		{"why", h.Why},
	})
	if h.Decision != nil {
		p.Line("\nThe policy chose the receiver:")
		policy.ShowDecision(p, *h.Decision)
	}
}

// toOf is the label of the receivers of a handoff: they have or had an offer, or will have one.
func toOf(h client.Handoff) string {
	if h.Offer == 0 {
		return "to"
	}
	return "offered to"
}
