package task

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// checkFromFlags refuses flags for fields that the document of --from sets.
func checkFromFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "from", "to", "capability", "start":
		default:
			if cmd.InheritedFlags().Lookup(f.Name) != nil { // a flag of every command
				return
			}
			err = shell.Hinted(shell.Usagef("--%s cannot be used with --from", f.Name), "only --to, --capability and --start can be combined with --from; the document has the rest")
		}
	})
	return err
}

// importTask creates a task from a document of another system.
func importTask(ctx context.Context, s *shell.Shell, flags *createFlags, args []string) error {
	if len(args) > 0 {
		return shell.Usagef("the document has the intent: omit %q or --from", args[0])
	}
	file := flags.from
	if file != "-" {
		file = "@" + file
	}
	doc, err := s.Document("--from "+flags.from, file)
	if err != nil {
		return err
	}
	c, err := s.Dial(ctx)
	if err != nil {
		return err
	}
	out, err := c.ImportTask(ctx, client.ImportInput{Document: doc, To: flags.send.In.To, Capability: flags.send.In.Capability, Start: flags.in.Start})
	s.Remember(out.Task)
	return s.Answer(out, err, func(p *shell.Page) {
		p.Receipt(out.Receipt)
		p.Line("\nRead as %s.", shell.OneLine(out.Format))
		if len(out.Notes) == 0 {
			return
		}
		shell.List(p, "", []string{"FIELD", "NOTE"}, out.Notes, func(n client.Note) []string {
			return []string{n.Field, n.Text}
		})
	})
}
