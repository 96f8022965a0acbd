package policy

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func decisions(s *shell.Shell) *cobra.Command {
	var f admin.DecisionFilter
	cmd := s.Call("decisions", "List what the policy has decided, and why", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := admin.New(c).Decisions(ctx, f)
		return s.Answer(list, err, func(p *shell.Page) {
			none := "The policy has decided nothing yet: it decides handoffs to auto."
			if f != (admin.DecisionFilter{}) {
				none = "No decision fits."
			}
			shell.List(p, none, []string{"AT", "TASK OR HANDOFF", "RULE", "TO", "WHY"}, list.Decisions, func(d admin.Decided) []string {
				return []string{shell.Clock(d.Time), cmp.Or(d.Handoff, d.Task), cmp.Or(d.Rule, "none"), cmp.Or(receiver(d.To), "stays where it is"), shell.OneLine(strings.Join(d.Why, "; "))}
			})
			if list.Next > 0 {
				p.MoreBy("--before", strconv.FormatUint(list.Next, 10))
			}
		})
	})
	cmd.Flags().StringVar(&f.Rule, "rule", "", "only decisions of this rule; advice: of the model that the policy asks")
	cmd.Flags().StringVar(&f.Policy, "policy", "", "only decisions by the policy with this digest (see trapeze policy show --versions)")
	cmd.Flags().Uint64Var(&f.Before, "before", 0, "list only decisions before this position of the record")
	cmd.Flags().IntVar(&f.Limit, "limit", 0, "maximum number (default 50)")
	return shell.Example(cmd, "trapeze policy decisions --rule invoices")
}
