package usage

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagGroup is a group of flags under a title of its own in the help page of a command.
type FlagGroup struct {
	Title string
	Names string // separated by blanks, in the order in which they are shown
}

// GroupFlags shows the flags of a command in groups, in their order. Flags that no group names come last.
func GroupFlags(cmd *cobra.Command, groups []FlagGroup) {
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		var b strings.Builder
		fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
		if cmd.HasExample() {
			fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
		}
		shown := map[string]bool{}
		for _, g := range groups {
			set := pflag.NewFlagSet("", pflag.ContinueOnError)
			set.SortFlags = false
			for _, name := range strings.Fields(g.Names) {
				if f := cmd.LocalFlags().Lookup(name); f != nil {
					set.AddFlag(f)
					shown[name] = true
				}
			}
			printFlags(&b, g.Title, set)
		}
		rest := pflag.NewFlagSet("", pflag.ContinueOnError)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !shown[f.Name] {
				rest.AddFlag(f)
			}
		})
		printFlags(&b, "Other flags", rest)
		printFlags(&b, "Global flags", cmd.InheritedFlags())
		_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
		return err
	})
}

func printFlags(b *strings.Builder, title string, set *pflag.FlagSet) {
	if text := strings.TrimRight(set.FlagUsages(), " \n"); text != "" {
		fmt.Fprintf(b, "\n%s:\n%s\n", title, text)
	}
}
