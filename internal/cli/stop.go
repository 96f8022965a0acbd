package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/daemon"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func (s *commands) stopCommand() *cobra.Command {
	cmd := s.Command("stop", "Stop the server on this machine", shell.NoArgs, func(ctx context.Context, _ []string) error {
		if s.Flags.URL != "" {
			return shell.Usagef("stop takes no --url: it stops the server of a data directory on this machine (--data-dir)")
		}
		dir, err := s.DataDir()
		if err != nil {
			return shell.Usage(err)
		}
		out, err := daemon.Stop(ctx, dir)
		none := errors.Is(err, daemon.ErrNone)
		if err != nil && !none {
			return err
		}
		said := struct {
			Stopped bool   `json:"stopped"`
			PID     int    `json:"pid,omitempty"`
			URL     string `json:"url,omitempty"`
			DataDir string `json:"data_dir"`
		}{!none, out.PID, out.URL, dir}
		return s.Emit(said, func(p *shell.Page) {
			if none {
				p.Line("No server is running on %s.", dir)
				return
			}
			p.Line("The server at %s (process %d) has stopped. Its data is in %s.", out.URL, out.PID, dir)
		})
	})
	cmd.Long = `Stop the server that uses the data directory (--data-dir), whether it runs in the background or in a terminal. Calls in progress are
finished first. Acknowledged changes are not lost; trapeze serve continues from them.

    trapeze stop`
	return cmd
}
