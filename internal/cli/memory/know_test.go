package memory

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func TestEveryCommandShowsAnExampleOfItself(t *testing.T) {
	root := shell.Group("trapeze", "", Commands(shell.New(shell.Env{}))...)
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			walk(c)
		}
		if cmd.Runnable() && !cmd.HasSubCommands() && !strings.Contains(cmd.Example, cmd.CommandPath()) {
			t.Errorf("%s: the example is %q", cmd.CommandPath(), cmd.Example)
		}
	}
	walk(root)
}
