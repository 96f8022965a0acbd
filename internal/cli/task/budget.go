package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

func raiseBudget(s *shell.Shell) *cobra.Command {
	var in client.RaiseBudgetInput
	cmd := s.TaskCall("budget [TASK]", "Raise the budget of a task that has not ended", func(ctx context.Context, c *client.Client, task string) error {
		if in.Budget == (client.Spend{}) {
			return shell.Usagef("give the new budget with --tokens, --cost or both; %s shows the present one", shellword.Command("trapeze task show", task))
		}
		if err := s.Texts(&in.Why); err != nil {
			return err
		}
		r, err := c.RaiseBudget(ctx, task, in)
		return s.EmitReceipt(r, err)
	})
	cmd.Long = `Raise the budget of a task that has not ended. The requester of the task can, and operators; for a child, the owner of its parent and
operators, and the difference is reserved of what the parent has left.

A budget cannot be lowered. A task in the dead letters gets a larger one when it is replayed: trapeze dead replay TASK --budget-tokens N.`
	f := cmd.Flags()
	f.Int64Var(&in.Budget.Tokens, "tokens", 0, "new budget in tokens, more than the present one")
	f.Int64Var(&in.Budget.Cost, "cost", 0, "new budget in millionths of the currency, more than the present one")
	shell.WhyFlag(f, &in.Why)
	return cmd
}
