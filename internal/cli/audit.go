package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func (s *commands) auditCommand() *cobra.Command {
	return shell.Group("audit", "What is on record", s.auditShow(), s.auditExport())
}

func (s *commands) auditShow() *cobra.Command {
	return s.TaskCall("show [TASK]", "Show all that is on record about a task", func(ctx context.Context, c *client.Client, task string) error {
		trail, err := c.Trail(ctx, task)
		if err != nil {
			return err
		}
		return s.Emit(trail, func(p *shell.Page) { p.Trail(trail.Entries) })
	})
}

func (s *commands) auditExport() *cobra.Command {
	var o client.ExportOptions
	var file string
	cmd := s.Command("export [TASK]", "Export the record of a task, or of everything", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) (err error) {
			if len(args) == 1 {
				o.Task = args[0]
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			w := s.Stdout
			if file != "" {
				f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
				if err != nil {
					return shell.Usage(err)
				}
				defer func() {
					if cerr := f.Close(); err == nil {
						err = cerr
					}
				}()
				w = f
			}
			return c.Export(ctx, o, w)
		})
	cmd.Long = `Export what is on record: --format jsonl (one event a line), csv, or for one task json (its audit documents). The
export is itself on record. With -o the file must not exist yet.`
	cmd.Flags().StringVar(&o.Format, "format", "", "jsonl, csv or json (default jsonl)")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to this file")
	return cmd
}

func (s *commands) eventsCommand() *cobra.Command {
	var after uint64
	var task string
	var most int
	cmd := s.Command("events", "Follow what happens, until interrupted", shell.NoArgs, func(ctx context.Context, _ []string) error {
		ctx, stop := interruptible(ctx)
		defer stop()
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		if _, err := c.Me(ctx); err != nil { // following rides out a server that is away, but one was never there
			return err
		}
		enough := errors.New("enough")
		told := 0
		err = c.Events(ctx, after, func(e client.Event) error {
			if task != "" && e.ID != task {
				return nil
			}
			if told++; told == most {
				return errors.Join(s.tell(e), enough)
			}
			return s.tell(e)
		})
		if ctx.Err() != nil || errors.Is(err, enough) {
			return nil
		}
		return err
	})
	cmd.Long = `Follow what happens: to which task or agent, by whom; not the content. With --json each line is one event.`
	cmd.Flags().Uint64Var(&after, "after", client.Now, "start after this position of the record; 0 from the beginning (default: from now on)")
	cmd.Flags().Lookup("after").DefValue = "0"
	cmd.Flags().StringVar(&task, "task", "", "only what happens to this task")
	cmd.Flags().IntVar(&most, "count", 0, "end after so many")
	return cmd
}

func (s *commands) tell(e client.Event) error {
	if s.Flags.JSON {
		return json.NewEncoder(s.Stdout).Encode(e)
	}
	_, err := fmt.Fprintf(s.Stdout, "%8d  %s  %-5s %s  %s  %s\n", e.Position, shell.Clock(e.Time), e.Kind, shell.OneLine(e.ID),
		strings.Join(e.Events, ", "), shell.OneLine(e.Actor))
	return err
}
