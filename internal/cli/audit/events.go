package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Events is the command trapeze events.
func Events(s *shell.Shell) *cobra.Command {
	var after uint64
	var task string
	var most int
	cmd := s.Command("events", "Follow the events of all tasks and agents, until interrupted", shell.NoArgs, func(ctx context.Context, _ []string) error {
		ctx, stop := shell.Interruptible(ctx)
		defer stop()
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		if _, err := c.Me(ctx); err != nil { // Events waits for a server that went away, but not for one that was never there
			return err
		}
		if task != "" {
			if _, err := c.Task(ctx, task); err != nil { // nothing would ever be shown
				return err
			}
		}
		if s.Terminal {
			s.Notef("following the events; end with Ctrl-C")
		}
		enough := errors.New("enough")
		told := 0
		err = c.Events(ctx, after, func(e client.Event) error {
			if task != "" && e.ID != task {
				return nil
			}
			if told++; told == most {
				return errors.Join(showEvent(s, e), enough)
			}
			return showEvent(s, e)
		})
		if ctx.Err() != nil || errors.Is(err, enough) {
			return nil
		}
		return err
	})
	cmd.Long = `Follow the events: which task or agent, what happened, and by whom; not the content. The command waits for new events until
Ctrl-C, or --count of them. With --json every line is one event.`
	cmd.Flags().Uint64Var(&after, "after", client.Now, "start after this position of the record; 0 is the beginning (default: from now on)")
	cmd.Flags().Lookup("after").DefValue = "0"
	shell.TaskFlag(cmd.Flags(), &task, "task", "show only events of this task")
	cmd.Flags().IntVar(&most, "count", 0, "exit after this many events")
	return cmd
}

func showEvent(s *shell.Shell, e client.Event) error {
	if s.Flags.JSON {
		return s.EmitJSON(e, "")
	}
	_, err := fmt.Fprintf(s.Stdout, "%8d  %s  %-5s %s  %s  %s\n", e.Position, shell.Clock(e.Time), shell.OneLine(e.Kind), shell.OneLine(e.ID),
		shell.OneLine(strings.Join(e.Events, ", ")), shell.OneLine(e.Actor))
	return err
}
