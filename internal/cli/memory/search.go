package memory

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// filterFlags are the flags that select memory items.
type filterFlags struct {
	in                  client.MemoryFilter
	scope, since, until string
}

func (r *filterFlags) add(f *pflag.FlagSet) {
	f.StringVar(&r.in.Tag, "tag", "", "list only items with this tag")
	f.StringVar(&r.in.Agent, "by", "", "list only items of this author")
	shell.TaskFlag(f, &r.in.Task, "task", "list only items of this task")
	f.StringVar(&r.in.Conversation, "conversation", "", "list only items of this conversation, by its id, or of all with this name")
	shell.Choice(f, &r.scope, "scope", "", "list only items of this scope: %s", client.Scopes())
	f.BoolVar(&r.in.Pinned, "pinned", false, "list only pinned items")
	f.BoolVar(&r.in.Proposed, "proposed", false, "list only items that an agent proposes to pin for the whole workspace")
	f.StringVar(&r.since, "since", "", "list only items written after this time: how long ago, such as 24h, or a time")
	f.StringVar(&r.until, "until", "", "list only items written before this time: how long ago, or a time")
	f.IntVar(&r.in.Limit, "limit", 0, "maximum number of items, up to 500")
}

func (r *filterFlags) filter(ctx context.Context, s *shell.Shell) (in client.MemoryFilter, err error) {
	in = r.in
	in.Scope = client.Scope(r.scope)
	if in.Since, err = s.Past(ctx, "--since", r.since); err == nil {
		in.Until, err = s.Past(ctx, "--until", r.until)
	}
	return in, err
}

func memoryList(s *shell.Shell) *cobra.Command {
	var flags filterFlags
	cmd := searchCommand(s, "list", "List the items that you may read, newest first; the read is recorded", shell.NoArgs, &flags)
	cmd.Flags().Uint64Var(&flags.in.After, "after", 0, "continue after this position, from the previous page")
	return shell.Example(cmd, "trapeze memory list --tag tests --scope workspace")
}

func memorySearch(s *shell.Shell) *cobra.Command {
	var flags filterFlags
	cmd := searchCommand(s, "search TEXT", "Search the items that you may read, best match first; the read is recorded", cobra.ExactArgs(1), &flags)
	return shell.Example(cmd, "trapeze memory search 'database for tests'")
}

// searchCommand makes list and search, which differ in their query.
func searchCommand(s *shell.Shell, use, short string, args cobra.PositionalArgs, flags *filterFlags) *cobra.Command {
	cmd := s.Command(use, short, args, func(ctx context.Context, args []string) error {
		in, err := flags.filter(ctx, s)
		if err != nil {
			return err
		}
		if len(args) > 0 {
			in.Query = args[0]
		}
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		list, err := c.SearchMemory(ctx, in)
		return s.Answer(list, err, func(p *shell.Page) {
			shell.List(p, "No items match.", []string{"MEMORY", "SCOPE", "UPDATED", "AUTHOR", "TAGS", "WHAT"}, list.Items, func(m client.MemoryItem) []string {
				return []string{
					m.ID, string(m.Scope), shell.Clock(m.Updated), m.Author, shell.Names(m.Tags), shell.Clip(cmp.Or(m.Title, m.Excerpt), 70),
				}
			})
			if in.Proposed && len(list.Items) > 0 {
				p.Line("\nTo agree, as an operator, after reading an item (trapeze memory get MEMORY): %s", shellword.Command("trapeze memory pin", list.Items[0].ID))
			}
			p.More(shell.Number(list.Next))
		})
	})
	flags.add(cmd.Flags())
	return cmd
}
