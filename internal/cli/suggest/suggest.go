package suggest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// synonyms are the names that other programs have for commands, with ours, the likeliest first.
var synonyms = map[string][]string{
	"create": {"add", "create"}, "new": {"add", "create"}, "register": {"add", "agent add"},
	"delete": {"remove", "discard", "task cancel"}, "rm": {"remove", "discard", "task cancel"},
	"done": {"complete", "task complete"}, "finish": {"complete", "task complete"},
	"ls": {"list", "status"}, "ps": {"status"}, "get": {"show"}, "describe": {"show"},
	"start": {"serve"}, "up": {"serve"}, "run": {"work"}, "logs": {"events"}, "watch": {"events"},
}

// flagSynonyms are names that people give to flags that have other names: as other servers have it, and as the tools over MCP do.
var flagSynonyms = map[string][]string{
	"port": {"addr"}, "summary": {"state", "conversation-summary"}, "depends-on": {"after"}, "dependency": {"after"}, "dependencies": {"after"},
	"output": {"json"}, "format": {"json"}, "message": {"detail", "why"}, "detail": {"why"}, "why": {"detail"}, "budget": {"budget-tokens", "budget-cost", "tokens"}, "timeout": {"within", "wait"},
}

// Commands returns the commands below cmd that somebody may have meant by a name, or, if there are none, those of its name in other groups.
func Commands(cmd *cobra.Command, name string) (found []string) {
	for _, s := range synonyms[name] {
		if c, rest, err := cmd.Find(strings.Fields(s)); err == nil && c != cmd && len(rest) == 0 {
			found = append(found, s)
		}
	}
	if len(found) == 0 && cmd == cmd.Root() {
		found = namesakes(cmd, name)
	}
	if len(found) == 0 { // of none of the groups
		for _, c := range cmd.Root().Commands() {
			if c.Name() == name && !c.Hidden {
				found = []string{c.CommandPath()}
			}
		}
	}
	if len(found) == 0 {
		cmd.SuggestionsMinimumDistance = 2
		found = cmd.SuggestionsFor(name)
	}
	if len(found) == 0 {
		found = namesakes(cmd.Root(), name)
	}
	return found
}

// Rest returns what stands after the name of a command in a command line, up to the first flag.
func Rest(cmd *cobra.Command, line []string) []string {
	_, rest, _ := cmd.Root().Find(line) // that there is no such command is what the caller finds out
	if i := slices.IndexFunc(rest, func(arg string) bool { return strings.HasPrefix(arg, "-") }); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

// namesakes returns the commands of that name in the groups of a program, such as "task complete" for complete, at most three, that of a task first.
func namesakes(root *cobra.Command, name string) (found []string) {
	rank := func(group *cobra.Command) int {
		if group.Name() == "task" {
			return 0
		}
		return 1
	}
	groups := slices.Clone(root.Commands())
	slices.SortStableFunc(groups, func(a, b *cobra.Command) int { return cmp.Compare(rank(a), rank(b)) })
	for _, group := range groups {
		for _, c := range group.Commands() {
			if c.Name() == name && !c.Hidden && len(found) < 3 {
				found = append(found, group.Name()+" "+c.Name())
			}
		}
	}
	return found
}

// Flags returns the flags of a command that somebody may have meant by a name, at most three.
func Flags(cmd *cobra.Command, typed string) []string {
	var names []string
	for _, name := range flagSynonyms[typed] {
		if cmd.Flags().Lookup(name) != nil {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		return names
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return Names(typed, names)
}

// Names returns the names that resemble a mistyped one, at most three.
func Names(typed string, names []string) []string {
	all := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		if name != typed {
			all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
		}
	}
	near := all.SuggestionsFor(typed)
	return near[:min(len(near), 3)]
}
