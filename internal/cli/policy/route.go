package policy

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func route(s *shell.Shell) *cobra.Command {
	var in client.RouteInput
	cmd := s.TaskCall("route [TASK]", "Ask where the policy would send a task, and why", func(ctx context.Context, c *client.Client, task string) error {
		r, err := c.Route(ctx, task, in)
		if err != nil {
			return err
		}
		return s.Emit(r, func(p *shell.Page) { ShowDecision(p, r.Decision) })
	})
	cmd.Flags().BoolVar(&in.AskLLM, "ask-llm", false, "where no rule matches, ask the language model that the policy names; that goes on the task's record")
	cmd.Long = `Ask where the policy would send a task: which rule decides and why, who could receive it, and why others are passed over. Nothing
changes; trapeze send --to auto does it.

    trapeze route TASK`
	return cmd
}

// ShowDecision prints what the policy makes of a task, and why.
func ShowDecision(p *shell.Page, d client.Decision) {
	to := "nobody: it stays where it is"
	if d.Action == "handoff" {
		to = receiver(d.To)
	}
	p.Fields([]shell.Field{
		{"rule", or(d.Rule, "none decides")},
		{"because of", strings.Join(d.Why, ", ")},
		{"goes to", to},
		{"kind", string(d.Kind)},
		{"reason", string(d.Reason)},
		{"detail", d.Detail},
		{"approved by", d.Approver},
		{"policy", d.Policy},
	})
	for _, w := range d.Weighed {
		verdict := "passed over"
		if w.Fit {
			verdict = "could take it"
		}
		who := w.Agent
		if w.Desk != "" {
			who = "desk " + w.Desk
		}
		p.Line("  %s (%s) %s: %s", who, w.Tier, verdict, w.Why)
	}
	if d.Omitted > 0 {
		p.Line("  and %d more", d.Omitted)
	}
	for _, b := range d.Broken {
		p.Line("  rule %s", b)
	}
}

// receiver is to whom a decision hands off, in words.
func receiver(to client.Receiver) string {
	for _, x := range [][2]string{{"agent", to.Agent}, {"whoever can", to.Capability}, {"channel", to.Channel}, {"chain", to.Chain}, {"desk", to.Desk}} {
		if x[1] != "" {
			return fmt.Sprintf("%s %s", x[0], x[1])
		}
	}
	return ""
}
