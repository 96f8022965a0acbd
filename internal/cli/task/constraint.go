package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/handoff"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func constrain(s *shell.Shell) *cobra.Command {
	var id string
	var most float64
	var allow []string
	var cmd *cobra.Command
	cmd = s.OwnerCall("constrain [TASK] KIND:TEXT", "Add a constraint to a task, or tighten one", 1, cobra.RangeArgs(1, 2),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, args []string) (client.Receipt, error) {
			list, err := handoff.Constraints(args[:1])
			if err != nil {
				return client.Receipt{}, shell.Usage(err)
			}
			k := list[0]
			if id != "" {
				k.ID = id
			}
			if cmd.Flags().Changed("max") {
				k.Max = &most
			}
			k.Allow = allow
			return c.Constrain(ctx, task, client.ConstrainInput{Epoch: epoch, Constraint: k})
		})
	cmd.Long = `Add a constraint to a task, or tighten the one with the same ID. KIND is ` + shell.OneOf(client.ConstraintKinds()) + `;
KIND! makes it mandatory. TEXT alone is a prohibition if it begins with a word such as never, no or do not, and else a preference.
Constraints are part of every later envelope and of every child. They can be tightened, but not loosened.`
	cmd.Flags().StringVar(&id, "id", "", "ID of the constraint (default: derived from the text)")
	cmd.Flags().Float64Var(&most, "max", 0, "maximum value; smaller is tighter")
	shell.AllowedFlag(cmd.Flags(), &allow, "allow", "allowed value, or none to allow nothing; fewer values are tighter (repeatable; default: anything)")
	return cmd
}

func lift(s *shell.Shell) *cobra.Command {
	var tightenedBy string
	cmd := s.Command("lift [TASK] CONSTRAINT WHY", "Remove a constraint, or what one principal has tightened of it", cobra.RangeArgs(2, 3),
		func(ctx context.Context, args []string) error {
			task, others, err := s.TaskArg(args, 2)
			if err != nil {
				return err
			}
			if err := s.Texts(&others[1]); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			if tightenedBy != "" {
				return s.EmitReceipt(c.LiftTightening(ctx, task, others[0], tightenedBy, others[1]))
			}
			return s.EmitReceipt(c.Lift(ctx, task, others[0], others[1]))
		})
	cmd.Long = `Remove a constraint, as the caller that set it or as an operator. With --tightened-by, remove only what that principal has tightened of it, and
keep the rest: what agents have tightened, the setter of the constraint and the requester of the task can remove too.`
	cmd.Flags().StringVar(&tightenedBy, "tightened-by", "", "lift only what this `principal` has tightened: an agent's name, or operator/NAME")
	return cmd
}
