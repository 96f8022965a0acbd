package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func list(s *shell.Shell) *cobra.Command {
	var f client.TaskFilter
	var state string
	cmd := s.Command("list", "List tasks, newest first", shell.NoArgs, func(ctx context.Context, _ []string) error {
		f.State = client.State(state)
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		list, err := c.Tasks(ctx, f)
		return s.Answer(list, err, func(p *shell.Page) { showTasks(p, list, "No tasks match.") })
	})
	shell.Choice(cmd.Flags(), &state, "state", "", "list only tasks in this state: %s", client.States())
	cmd.Flags().BoolVar(&f.Live, "live", false, "list only tasks that have not ended")
	cmd.Flags().StringVar(&f.Owner, "owner", "", "list only tasks of this owner")
	shell.TaskFlag(cmd.Flags(), &f.Parent, "parent", "list only children of this task")
	cmd.Flags().StringVar(&f.Text, "text", "", "list only tasks that have these words in their intent, requester or owner")
	shell.PageFlags(cmd.Flags(), &f.Limit, &f.After)
	shell.TakesIDs(cmd.Flags(), "after", "TASK")
	return cmd
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
