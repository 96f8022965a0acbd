package completion

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/cli/usage"
)

// wait is how long the completion of a value waits for the server.
const wait = 2 * time.Second

// source is where the values of an argument or a flag come from. The zero value has none, and no file names either.
type source struct {
	read  func(ctx context.Context, c *client.Client, args []string) ([]string, error)
	fixed []string
	then  cobra.ShellCompDirective // besides [cobra.ShellCompDirectiveNoFileComp]
	files cobra.ShellCompDirective // instead of values: all files, or directories alone
	paths bool
}

// Add completes the arguments and flags of a command and all below it. Flags of a few values are completed by [shell.CompleteChoices], which comes first.
func Add(s *shell.Shell, cmd *cobra.Command) {
	if of := usage.Placeholders(cmd); len(of) > 0 && cmd.ValidArgsFunction == nil && allKnown(cmd, of) {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			src, _ := argument(cmd, of, len(args))
			return src.complete(s, cmd, args, typed)
		}
	}
	add := func(f *pflag.Flag) {
		if _, done := cmd.GetFlagCompletionFunc(f.Name); done || f.Value.Type() == "bool" {
			return
		}
		src, known := flag(cmd, f)
		if !known {
			return
		}
		_, several := f.Value.(pflag.SliceValue)
		_ = cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			begun := ""
			if i := strings.LastIndexByte(typed, ','); several && i >= 0 {
				begun, typed = typed[:i+1], typed[i+1:]
			}
			list, how := src.complete(s, cmd, args, typed)
			for i := range list {
				list[i] = begun + list[i]
			}
			return list, how
		})
	}
	cmd.Flags().VisitAll(add)
	cmd.PersistentFlags().VisitAll(add)
	for _, c := range cmd.Commands() {
		Add(s, c)
	}
}

// allKnown reports whether each argument of a command has a source.
func allKnown(cmd *cobra.Command, of []string) bool {
	for n := range of {
		if _, known := argument(cmd, of, n); !known {
			return false
		}
	}
	return true
}

// argument returns the source of the n-th argument of a command, whose usage names its arguments. Beyond the last one there is none.
func argument(cmd *cobra.Command, of []string, n int) (src source, known bool) {
	last := of[len(of)-1]
	if n >= len(of) {
		if strings.Trim(last, ".…") == last {
			return source{}, true
		}
		n = len(of) - 1
	}
	return lookUp(arguments, cmd, " ", strings.Trim(of[n], "[].…"))
}

// flag returns the source of the values of a flag.
func flag(cmd *cobra.Command, f *pflag.Flag) (src source, known bool) {
	switch shell.IDsOf(f) {
	case "TASK":
		return source{read: recentTasks}, true
	case "HANDOFF":
		return source{read: recentHandoffs}, true
	}
	if src, known = lookUp(flags, cmd, " --", f.Name); known {
		return src, true
	}
	kind := strings.TrimSuffix(f.Value.Type(), "Slice")
	return source{}, slices.Contains([]string{"int", "int64", "uint64", "float64", "duration"}, kind)
}

// lookUp finds the source of a name in a table, by the path of the command with it, by its group with it, or alone.
func lookUp(table map[string]source, cmd *cobra.Command, between, name string) (src source, known bool) {
	for c := cmd; c.HasParent(); c = c.Parent() {
		_, path, _ := strings.Cut(c.CommandPath(), " ")
		if src, known = table[path+between+name]; known {
			return src, true
		}
	}
	src, known = table[name]
	return src, known
}

// complete lists the values that begin with what was typed.
func (src source) complete(s *shell.Shell, cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if src.paths {
		return nil, src.files
	}
	list := slices.Clone(src.fixed)
	if own := s.OwnTask(); len(args) == 0 && own != "" {
		args = []string{own}
	}
	if src.read != nil {
		ctx, cancel := context.WithTimeout(cmd.Context(), wait)
		defer cancel()
		if c, err := s.Dial(ctx); err == nil {
			more, err := src.read(ctx, c, args)
			if err == nil {
				list = append(list, more...)
			}
		}
	}
	list = slices.DeleteFunc(list, func(v string) bool { return !strings.HasPrefix(v, typed) })
	return list, cobra.ShellCompDirectiveNoFileComp | src.then
}
