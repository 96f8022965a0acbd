package audit

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/newfile"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Command is the command group trapeze audit.
func Command(s *shell.Shell) *cobra.Command {
	return shell.Group("audit", "Show or export the record", auditShow(s), auditExport(s), auditCheckpoint(s), auditCheck(s), auditKeys(s), auditRotateKey(s))
}

func auditShow(s *shell.Shell) *cobra.Command {
	var around bool
	cmd := s.TaskCall("show [TASK]", "Show the record of a task", func(ctx context.Context, c *client.Client, task string) error {
		read := c.Trail
		if around {
			read = admin.New(c).TrailAround
		}
		trail, err := read(ctx, task)
		return s.Answer(trail, err, func(p *shell.Page) { p.Trail(trail.Entries) })
	})
	cmd.Flags().BoolVar(&around, "skip-damaged", false, "go on after entries that cannot be read, and list them as entry-damaged, or entry-put-away (for operators and auditors)")
	return cmd
}

func auditExport(s *shell.Shell) *cobra.Command {
	var o client.ExportOptions
	var file string
	cmd := s.Command("export [TASK]", "Export the record of a task, or the whole record", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) (err error) {
			ctx, stop := shell.Interruptible(ctx)
			defer stop()
			if len(args) == 1 {
				o.Task = args[0]
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			if file != "" {
				return newfile.Write(file, func(w io.Writer) error { return export(ctx, c, o, w) })
			}
			if o.Format == "csv" || o.Format == "proof" {
				return export(ctx, c, o, s.Stdout)
			}
			return export(ctx, c, o, s.JSONOut())
		})
	cmd.Long = `Export the record: --format jsonl (one event per line), csv, or, for a single task, json (its audit documents). With --format proof it has
whole entries, each with the proof that it is in the record: "trapeze verify" verifies it without the server. The export is
itself recorded. The file of -o must not exist yet. The content of memory items that were forgotten is withheld, unless an
operator asks for it with --forgotten.`
	shell.Choice(cmd.Flags(), &o.Format, "format", "", "%s (default jsonl)", client.ExportFormats())
	cmd.Flags().BoolVar(&o.Forgotten, "forgotten", false, "include the content of memory items that were forgotten (for operators)")
	cmd.Flags().BoolVar(&o.SkipDamaged, "skip-damaged", false, "go on after entries that cannot be read, and list them as entry-damaged, or entry-put-away (for operators and auditors)")
	cmd.Flags().StringVarP(&file, "output", "o", "", "file to write (default: standard output)")
	return cmd
}

// export writes an export, and says what may be done about one that ends early.
func export(ctx context.Context, c *client.Client, o client.ExportOptions, w io.Writer) error {
	err := c.Export(ctx, o, w)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: the server has stopped, or cannot read an entry, which its log then names: --skip-damaged goes on after entries that cannot be read, and lists them", err)
	}
	return err
}
