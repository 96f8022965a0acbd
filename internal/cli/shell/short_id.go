package shell

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
)

// lastTask stands for the newest task that the caller requested.
const lastTask = "@last"

// mostPages bounds the pages of tasks that are looked at.
const mostPages = 40

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
	var id string
	if typed == lastTask {
		id, err = newest(ctx, c)
	} else {
		id, err = unique(ctx, c, typed)
	}
	if err != nil {
		return nil, err
	}
	return append([]string{id}, args[1:]...), nil
}

// newest is the task that the caller requested last. Ids do not tell: one that is made with an idempotency key has any order.
func newest(ctx context.Context, c *client.Client) (string, error) {
	me, err := c.Me(ctx)
	if err != nil {
		return "", err
	}
	var last client.TaskRow
	_, err = eachTask(ctx, c, func(t client.TaskRow) {
		if t.Requester == Principal(me.Role, me.Name) && t.Created.After(last.Created) {
			last = t
		}
	})
	if err == nil && last.ID == "" {
		err = Usagef("%s has requested no task: give its id", Principal(me.Role, me.Name))
	}
	return last.ID, err
}

// unique is the one task whose id begins like this.
func unique(ctx context.Context, c *client.Client, begin string) (string, error) {
	var found []string
	all, err := eachTask(ctx, c, func(t client.TaskRow) {
		if strings.HasPrefix(t.ID, begin) {
			found = append(found, t.ID)
		}
	})
	switch {
	case err != nil:
		return "", err
	case len(found) > 1:
		return "", Usagef("%s begins the ids of %d tasks: type more of it", begin, len(found))
	case !all:
		return "", Usagef("there are too many tasks to tell which one %s is: type the whole id", begin)
	case len(found) == 0:
		return "", Usagef("no task is %s", begin)
	}
	return found[0], nil
}

// eachTask visits the tasks that the caller may see, and reports whether these were all.
func eachTask(ctx context.Context, c *client.Client, visit func(client.TaskRow)) (all bool, err error) {
	f := client.TaskFilter{Limit: 500}
	for range mostPages {
		page, err := c.Tasks(ctx, f)
		if err != nil {
			return false, err
		}
		for _, t := range page.Tasks {
			visit(t)
		}
		if page.Next == "" {
			return true, nil
		}
		f.After = page.Next
	}
	return false, nil
}
