package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestEveryCommandIsInAGroupOfTheHelp(t *testing.T) {
	for _, cmd := range newCommands(Env{}).root().Commands() {
		if cmd.IsAvailableCommand() && cmd.GroupID == "" {
			t.Errorf("%s is in no group: add it to groups in root.go", cmd.CommandPath())
		}
	}
}

// exampled are the commands whose help pages show an example of every subcommand.
var exampled = []string{"channel", "memory", "conversation", "envelope", "artifact", "drift", "ticket", "ask", "approve", "deny", "do"}

func TestHelpPagesShowExamples(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			walk(c)
		}
		if cmd.HasSubCommands() {
			return
		}
		path := cmd.CommandPath()
		_, verb, _ := strings.Cut(path, " ticket ") // approve and deny are also commands of the root
		if !strings.Contains(cmd.Example, path) && (verb == "" || !strings.Contains(cmd.Example, "trapeze "+verb)) {
			t.Errorf("%s: the example is %q", path, cmd.Example)
		}
	}
	root := newCommands(Env{}).root()
	for _, name := range exampled {
		cmd, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		walk(cmd)
	}
}
