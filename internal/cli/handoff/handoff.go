package handoff

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/policy"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Command is the command group trapeze handoff.
func Command(s *shell.Shell) *cobra.Command {
	return shell.Group("handoff", "Show a handoff, apply its git working tree, or withdraw it",
		show(s), apply(s), Cancel(s, "withdraw ID", "Withdraw a handoff in progress, as its sender"))
}

func show(s *shell.Shell) *cobra.Command {
	return s.Call("show ID", "Show the state of a handoff", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		h, err := c.Handoff(ctx, args[0])
		return s.Answer(h, err, func(p *shell.Page) { Show(p, h) })
	})
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
		{"offered to", shell.Names(h.To)},
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
