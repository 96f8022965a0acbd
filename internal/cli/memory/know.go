package memory

import (
	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Commands are the commands of this room, for a root that the shell is bound to.
func Commands(s *shell.Shell) []*cobra.Command {
	return []*cobra.Command{artifacts(s), channels(s), conversations(s), drifts(s), envelopes(s), memories(s)}
}

// example gives a command its example.
func example(cmd *cobra.Command, text string) *cobra.Command {
	cmd.Example = "  " + text
	return cmd
}
