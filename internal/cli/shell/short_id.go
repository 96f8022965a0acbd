package shell

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
)

// lastTask stands for the newest task that the caller may see.
const lastTask = "@last"

// taskIDLength is the length of a whole task id.
const taskIDLength = len("task_") + 26

// longIDs replaces @last, and the unique beginning of a task's id, by the id, where a command takes a task first.
func (s *Shell) longIDs(ctx context.Context, cmd *cobra.Command, args []string) ([]string, error) {
	of := placeholders(cmd)
	if len(args) == 0 || len(of) == 0 || strings.Trim(of[0], "[]") != "TASK" || of[0] == "[TASK]" && len(args) < len(of) {
		return args, nil
	}
	typed := args[0]
	if typed != lastTask && (!strings.HasPrefix(typed, "task_") || len(typed) >= taskIDLength || strings.Contains(typed, ".")) {
		return args, nil
	}
	c, err := s.Dial(ctx)
	if err != nil {
		return nil, err
	}
	page, err := c.Tasks(ctx, client.TaskFilter{Limit: 500})
	if err != nil {
		return nil, err
	}
	var found []string
	for _, t := range page.Tasks { // newest first
		if typed == lastTask || strings.HasPrefix(t.ID, typed) {
			found = append(found, t.ID)
		}
	}
	switch {
	case len(found) == 0:
		return nil, Usagef("none of the newest %d tasks is %s", len(page.Tasks), typed)
	case len(found) > 1 && typed != lastTask:
		return nil, Usagef("%s begins the ids of %d tasks: type more of it", typed, len(found))
	}
	return append([]string{found[0]}, args[1:]...), nil
}
