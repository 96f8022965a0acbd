package memory

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// recallFlags narrow a list of memory items.
type recallFlags struct {
	in                  client.MemoryFilter
	scope, since, until string
}

func (r *recallFlags) add(f *pflag.FlagSet) {
	f.StringVar(&r.in.Tag, "tag", "", "only those with this tag")
	f.StringVar(&r.in.Agent, "by", "", "only those of this author")
	f.StringVar(&r.in.Task, "task", "", "only those of this task")
	f.StringVar(&r.in.Conversation, "conversation", "", "only those of this conversation")
	f.StringVar(&r.scope, "scope", "", "only private, task or workspace")
	f.BoolVar(&r.in.Pinned, "pinned", false, "only those that are pinned")
	f.StringVar(&r.since, "since", "", "only those written since: how long ago, such as 24h, or a time")
	f.StringVar(&r.until, "until", "", "only those written before: how long ago, or a time")
	f.IntVar(&r.in.Limit, "limit", 0, "at most so many, up to 500")
}

func (r *recallFlags) filter() (in client.MemoryFilter, err error) {
	in = r.in
	in.Scope = client.Scope(r.scope)
	if in.Since, err = past("--since", r.since); err == nil {
		in.Until, err = past("--until", r.until)
	}
	return in, err
}

// past is a flag that is a time, or how long ago.
func past(what, text string) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return time.Now().Add(-d).UTC(), nil
	}
	return shell.Moment(what, text)
}

func memoryList(s *shell.Shell) *cobra.Command {
	var flags recallFlags
	cmd := recall(s, "list", "List items that you may read, newest first; the read is on record", shell.NoArgs, &flags)
	cmd.Flags().Uint64Var(&flags.in.After, "after", 0, "go on after this one, the last of the page before")
	return example(cmd, "trapeze memory list --tag tests --scope workspace")
}

func memorySearch(s *shell.Shell) *cobra.Command {
	var flags recallFlags
	cmd := recall(s, "search TEXT", "Find items that you may read by words, the best first; the read is on record", cobra.ExactArgs(1), &flags)
	return example(cmd, "trapeze memory search 'database for tests'")
}

func recall(s *shell.Shell, use, short string, args cobra.PositionalArgs, flags *recallFlags) *cobra.Command {
	cmd := s.Command(use, short, args, func(ctx context.Context, args []string) error {
		in, err := flags.filter()
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
		if err != nil {
			return err
		}
		return s.Emit(list, func(p *shell.Page) {
			var rows [][]string
			for _, m := range list.Items {
				rows = append(rows, []string{
					m.ID, string(m.Scope), shell.Clock(m.Updated), m.Author, shell.Names(m.Tags), shell.Clip(cmp.Or(m.Title, m.Excerpt), 70),
				})
			}
			p.Table("There are no such items.", []string{"MEMORY", "SCOPE", "UPDATED", "AUTHOR", "TAGS", "WHAT"}, rows)
			p.More(shell.Number(list.Next))
		})
	})
	flags.add(cmd.Flags())
	return cmd
}
