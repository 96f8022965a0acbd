package task

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// order is that of lists of tasks.
const order = `in the order of their ids, the highest first. That is the newest first where they were made with idempotency
keys that are UUIDs of version 7, as those of the commands and of the Go client are, or without one; other keys give ids in any order.`

func list(s *shell.Shell) *cobra.Command {
	var f client.TaskFilter
	var state, since, until string
	cmd := s.Call("list", "List tasks", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) (err error) {
		f.State = client.State(state)
		if f.Since, err = s.Past(ctx, "--since", since); err != nil {
			return err
		}
		if f.Until, err = s.Past(ctx, "--until", until); err != nil {
			return err
		}
		list, err := c.Tasks(ctx, f)
		return s.Answer(list, err, func(p *shell.Page) {
			showTasks(p, list, "No tasks match.")
			showCounts(p, list.Counts)
		})
	})
	cmd.Long = "List tasks " + order
	shell.Choice(cmd.Flags(), &state, "state", "", "list only tasks in this state: %s", client.States())
	cmd.Flags().BoolVar(&f.Live, "live", false, "list only tasks that have not ended")
	cmd.Flags().StringVar(&f.Owner, "owner", "", "list only tasks of this owner")
	shell.TaskFlag(cmd.Flags(), &f.Parent, "parent", "list only children of this task")
	cmd.Flags().BoolVar(&f.Deep, "deep", false, "with --parent: also the children of its children, to five below it")
	cmd.Flags().StringVar(&f.Text, "text", "", "list only tasks that have these words in their intent, id, requester, owner or receivers")
	cmd.Flags().StringVar(&f.Words, "words", "", "list only tasks that have these words in what you may read of them, such as asks, facts and results")
	cmd.Flags().StringVar(&since, "since", "", "list only tasks that last changed after this time: how long ago, such as 24h, or a time")
	cmd.Flags().StringVar(&until, "until", "", "list only tasks that last changed before this time: how long ago, or a time")
	cmd.Flags().BoolVar(&f.Counts, "counts", false, "also count the tasks that match, on all pages, by state")
	shell.PageFlags(cmd.Flags(), &f.Limit, &f.After)
	shell.TakesIDs(cmd.Flags(), "after", "TASK")
	return shell.Example(cmd, "trapeze task list --live --until 2h --counts")
}

// showCounts shows how many tasks match, if they were counted.
func showCounts(p *shell.Page, counts map[client.State]int) {
	all, parts := 0, []string(nil)
	for _, state := range client.States() {
		if n := counts[state]; n > 0 {
			all, parts = all+n, append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if all > 0 {
		p.Line("%d match: %s", all, strings.Join(parts, ", "))
	}
}

func showTasks(p *shell.Page, list client.TaskPage, none string) {
	shell.List(p, none, []string{"TASK", "STATE", "OWNER", "PRIORITY", "UPDATED", "INTENT"}, list.Tasks, func(t client.TaskRow) []string {
		who := t.Owner
		if len(t.To) > 0 && t.State == client.HandingOff {
			who += " → " + shell.Names(t.To)
		}
		return []string{t.ID, string(t.State), who, string(t.Priority), shell.Clock(t.Updated), shell.Clip(t.Intent, 60)}
	})
	p.More(list.Next)
}
