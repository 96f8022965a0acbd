package cli

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/cli/usage"
)

func TestEveryCommandIsInAGroupOfTheHelp(t *testing.T) {
	for _, cmd := range newCommands(Env{}).root().Commands() {
		if cmd.IsAvailableCommand() && cmd.GroupID == "" {
			t.Errorf("%s is in no group: add it to groups in root.go", cmd.CommandPath())
		}
	}
}

func TestLongHelpPagesShowTheTenUsualFlagsFirstAndAllInGroups(t *testing.T) {
	for _, of := range []string{"send", "task create"} {
		root := newCommands(Env{}).root()
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetArgs(append(strings.Fields(of), "--help"))
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		_, page, _ := strings.Cut(out.String(), "\nUsual flags:\n")
		usual, _, _ := strings.Cut(page, "\n\n")
		if n := strings.Count(usual, "\n") + 1; n != 10 || !strings.Contains(usual, "--to ") {
			t.Errorf("%s: the first group has %d flags:\n%s", of, n, usual)
		}
		cmd, _, err := root.Find(strings.Fields(of))
		if err != nil {
			t.Fatal(err)
		}
		_, other, _ := strings.Cut(page, "\nOther flags:\n")
		other, _, _ = strings.Cut(other, "\n\n")
		if strings.Count(other, "--") != 1 || !strings.Contains(other, "--help") {
			t.Errorf("%s: these are in no group; name them in FlagGroups:\n%s", of, other)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if n := len(regexp.MustCompile("(?m)^ +(-., )?--"+f.Name+"( |\\[|$)").FindAllString(page, -1)); n != 1 {
				t.Errorf("%s: --%s is shown %d times", of, f.Name, n)
			}
		})
	}
}

// Any command can be refused, and has the exit code of that then: a list of others is not all.
func TestHelpPagesThatListExitCodesSayWhereThoseOfErrorsAre(t *testing.T) {
	listed := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if strings.Contains(cmd.Long, "The exit code is 0") {
			if listed++; !strings.Contains(cmd.Long, "trapeze help exit-codes") {
				t.Errorf("%s lists exit codes, and not those of errors", cmd.CommandPath())
			}
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	if walk(newCommands(Env{}).root()); listed < 6 {
		t.Errorf("%d commands list exit codes", listed)
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

func TestFlagsOfClosedSetsCompleteTheirValues(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string
	}{
		{"send --kind", shellWords(client.Kinds())},
		{"task create x --reason", shellWords(client.Reasons())},
		{"task list --state", shellWords(client.States())},
		{"reject x --reason", shellWords(client.Rejections())},
		{"ticket list --kind", client.TicketKinds()},
	} {
		var out bytes.Buffer
		root := newCommands(Env{}).root()
		root.SetOut(&out)
		root.SetErr(io.Discard)
		root.SetArgs(append(append([]string{"__complete"}, strings.Fields(c.args)...), ""))
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Fields(out.String()); len(got) < len(c.want) || !slices.Equal(got[:len(c.want)], c.want) {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
}

// Each argument and each flag with a value has a source in the table of package completion, if only to say that nothing is known of its values.
// A flag that takes ids of tasks says so, and so @last and the beginning of an id stand for one.
func TestEveryArgumentAndFlagCompletes(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			walk(c)
		}
		if len(usage.Placeholders(cmd)) > 0 && cmd.ValidArgsFunction == nil {
			t.Errorf("%s: say in internal/cli/completion/table.go what completes each of %q", cmd.CommandPath(), usage.Placeholders(cmd))
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" {
				return
			}
			if _, ok := cmd.GetFlagCompletionFunc(f.Name); !ok {
				t.Errorf("%s: say in internal/cli/completion/table.go what completes --%s", cmd.CommandPath(), f.Name)
			}
			if slices.Contains([]string{"task", "parent", "handoff"}, f.Name) && shell.IDsOf(f) == "" {
				t.Errorf("%s --%s takes ids: define it with shell.TaskFlag or shell.TakesIDs", cmd.CommandPath(), f.Name)
			}
		})
	}
	walk(newCommands(Env{}).root())
}

func TestUsagesTakeTheirValuesFromTheClient(t *testing.T) {
	lists := []string{
		shell.OneOf(client.Kinds()), shell.OneOf(client.States()), shell.OneOf(client.Reasons()), shell.OneOf(client.Rejections()),
		shell.OneOf(client.Priorities()), shell.OneOf(client.Roles()), shell.OneOf(client.Scopes()), shell.OneOf(client.SpeakerRoles()),
		shell.OneOf(client.TicketKinds()), shell.OneOf(client.TicketStates()), shell.OneOf(client.Strategies()), shell.OneOf(client.FanInModes()),
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			for _, list := range lists {
				if strings.Contains(f.Usage, list) && len(f.Annotations) == 0 {
					t.Errorf("%s --%s lists %q by hand: define it with shell.Choice", cmd.CommandPath(), f.Name, list)
				}
			}
		})
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newCommands(Env{}).root())
}

func shellWords[T ~string](values []T) (list []string) {
	for _, v := range values {
		list = append(list, string(v))
	}
	return list
}
