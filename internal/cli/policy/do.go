package policy

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Do is the command trapeze do.
func Do(s *shell.Shell) *cobra.Command {
	var in client.DoInput
	var yes bool
	cmd := s.Command("do SENTENCE", "Carry out a sentence in plain English, such as \"escalate this\"", cobra.MinimumNArgs(1),
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
			if r := d.Receipt; r != nil {
				s.Remember(r.Task)
				if d.Understood.Intent == "takeover" {
					s.TookOver(*r)
				}
			}
			return s.Emit(d, func(p *shell.Page) { show(p, d) })
		})
	cmd.Flags().BoolVar(&yes, "yes", false, "carry it out without asking")
	shell.TaskFlag(cmd.Flags(), &in.Task, "task", "task that \"this\" refers to (TRAPEZE_TASK; default: the only task that you own or requested)")
	cmd.Flags().StringVar(&in.Confirm, "confirm", "", "carry out what an earlier answer understood, by its confirmation, and nothing else")
	cmd.Long = `Carry out a sentence in plain English (text, @FILE or -). Queries are answered at once. Changes need --yes; without it the command
only prints how it understood the sentence.

    hand this off to billing because it needs a refund
    escalate this                       escalate this to lead
    take over from coder                transfer context to tester
    this needs a specialist in sql      agent coder is stuck
    what is the handoff history         show active handoffs

A sentence states one action, without conditions; a sentence that is not understood is refused. Put a name that is an ordinary
word into quotation marks.`
	cmd.Example = `  trapeze do 'hand this off to billing because it needs a refund' --agent support --yes`
	return cmd
}

// unconfirmed is the refusal of a change that was not confirmed.
func unconfirmed(d client.Done) error {
	return refusal.New(refusal.Conflict, "repeat the command with --yes to carry it out", "nothing has been changed; the sentence was understood as: %s", d.Understood.Sentence).
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
		shell.List(p, "No handoff is in progress.", []string{"HANDOFF", "STAGE", "KIND", "FROM", "TO", "INTENT"}, d.Handoffs, func(t client.TaskRow) []string {
			return []string{t.Handoff, string(t.Stage), string(t.Kind), t.Owner, shell.Names(t.To), shell.Clip(t.Intent, 50)}
		})
		if d.More {
			p.Line("There are more.")
		}
	}
}
