package policy

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Commands are the commands of this room, for a root that the shell is bound to.
func Commands(s *shell.Shell) []*cobra.Command {
	return []*cobra.Command{do(s), policies(s), route(s)}
}

func do(s *shell.Shell) *cobra.Command {
	var in client.DoInput
	var yes bool
	cmd := s.Command("do SENTENCE", "Do what a sentence says, in plain English", cobra.MinimumNArgs(1),
		func(ctx context.Context, args []string) (err error) {
			in.Text = strings.Join(args, " ")
			if len(args) == 1 {
				if in.Text, err = s.Text(args[0]); err != nil {
					return err
				}
			}
			if in.Task == "" {
				in.Task = s.OwnTask()
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			d, err := c.Do(ctx, in)
			if err == nil && d.Confirm != "" && yes {
				in.Confirm = d.Confirm
				d, err = c.Do(ctx, in)
			}
			if err != nil {
				return err
			}
			if d.Confirm != "" {
				return unconfirmed(d)
			}
			return s.Emit(d, func(p *shell.Page) { show(p, d) })
		})
	cmd.Flags().BoolVar(&yes, "yes", false, "do it, as it is understood")
	cmd.Flags().StringVar(&in.Task, "task", "", "the task that \"this\" means (TRAPEZE_TASK; default: the only one that you hold or requested)")
	cmd.Flags().StringVar(&in.Confirm, "confirm", "", "do what an earlier answer understood, by its confirmation, and nothing else")
	cmd.Long = `Do what a sentence says (text, @FILE or -), in plain English. What only looks is done at once. Anything else is done with --yes;
without it you are told what was understood.

    hand this off to billing because it needs a refund
    escalate this                       escalate this to lead
    take over from coder                transfer context to tester
    this needs a specialist in sql      agent coder is stuck
    what is the handoff history         show active handoffs

One thing at a time, and no ifs: what is not understood is not done. A name that is an ordinary word goes into quotes.`
	cmd.Example = `  trapeze do 'hand this off to billing because it needs a refund' --agent support --yes`
	return cmd
}

// unconfirmed says what would be done.
func unconfirmed(d client.Done) error {
	return refusal.New(refusal.Conflict, "to have it done, say it again with --yes", "nothing is done yet; understood is: %s", d.Understood.Sentence).
		With("understood", d.Understood).With("confirm", d.Confirm)
}

func show(p *shell.Page, d client.Done) {
	p.Fields([]shell.Field{{"understood", d.Understood.Sentence}})
	switch {
	case d.Receipt != nil:
		p.Receipt(*d.Receipt)
	case d.Relief != nil:
		p.Relief(*d.Relief)
	case d.Trail != nil:
		p.Trail(d.Trail.Entries)
	default:
		var rows [][]string
		for _, t := range d.Handoffs {
			rows = append(rows, []string{t.Handoff, string(t.Stage), string(t.Kind), t.Owner, shell.Names(t.To), shell.Clip(t.Intent, 50)})
		}
		p.Table("No handoff is under way.", []string{"HANDOFF", "STAGE", "KIND", "FROM", "TO", "INTENT"}, rows)
		if d.More {
			p.Line("There are more.")
		}
	}
}
