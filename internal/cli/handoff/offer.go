package handoff

import (
	"context"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// offerOf is the handoff of a task, whose id stands for that of its newest handoff: a task has one offer at a time. Any other id is as it is.
func offerOf(ctx context.Context, c *client.Client, id string) (string, error) {
	if task, _ := shell.TaskOf(id); task != id || !strings.HasPrefix(id, "task_") {
		return id, nil
	}
	t, err := c.Task(ctx, id)
	if err != nil {
		return "", err
	}
	if t.Handoff == nil {
		return "", shell.Usagef("no offer of %s waits for you: trapeze inbox lists those that do", id)
	}
	return t.Handoff.ID, nil
}
