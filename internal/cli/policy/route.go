package policy

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Route is the command trapeze route.
func Route(s *shell.Shell) *cobra.Command {
	var in client.RouteInput
	cmd := s.TaskCall("route [TASK]", "Show where the policy would send a task, and why", func(ctx context.Context, c *client.Client, task string) error {
		r, err := c.Route(ctx, task, in)
		return s.Answer(r, err, func(p *shell.Page) { ShowDecision(p, r.Decision) })
	})
	cmd.Flags().BoolVar(&in.AskLLM, "ask-llm", false, "if no rule matches, ask the language model of the policy; that is recorded")
	cmd.Long = `Show where the policy would send a task: which rule decides, who could receive the task, and why other agents could not. Nothing
changes; trapeze send --to auto hands the task off.

    trapeze route TASK`
	return cmd
}

// ShowDecision prints what the policy decides for a task, and why.
func ShowDecision(p *shell.Page, d client.Decision) {
	to := "nobody: it stays with its owner"
	if d.Action == "handoff" {
		to = receiver(d.To)
	}
	p.Fields([]shell.Field{
		{"rule", cmp.Or(d.Rule, "no rule matches")},
		{"matched on", strings.Join(d.Why, ", ")},
		{"receiver", to},
		{"kind", string(d.Kind)},
		{"reason", string(d.Reason)},
		{"detail", d.Detail},
		{"approved by", d.Approver},
		{"policy", d.Policy},
	})
	for _, w := range d.Weighed {
		result := "not eligible"
		if w.Fit {
			result = "eligible"
		}
		who := w.Agent
		if w.Desk != "" {
			who = "desk " + w.Desk
		}
		p.Line("  %s (%s) %s: %s", who, w.Tier, result, w.Why)
	}
	if d.Omitted > 0 {
		p.Line("  and %d more", d.Omitted)
	}
	for _, b := range d.Broken {
		p.Line("  rule %s", b)
	}
}

// receiver describes the receiver of a decision.
func receiver(to client.Receiver) string {
	for _, x := range [][2]string{{"agent", to.Agent}, {"capability", to.Capability}, {"channel", to.Channel}, {"chain", to.Chain}, {"desk", to.Desk}} {
		if x[1] != "" {
			return fmt.Sprintf("%s %s", x[0], x[1])
		}
	}
	return ""
}
