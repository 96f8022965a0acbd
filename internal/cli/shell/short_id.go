package shell

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
)

// lastTask stands for the newest task that the caller requested.
const lastTask = "@last"

// listTasks is the hint for those who need the id of a task.
const listTasks = "trapeze task list lists the tasks that you see"

// mostPages bounds the pages of tasks that are looked at.
const mostPages = 40

// taskIDLength is the length of a whole task id.
const taskIDLength = len("task_") + 26

// longIDs replaces what stands for the id that a command takes first, by that id: @last and the unique beginning of a task's id, the id of a
// handoff, ticket or share where its task is meant, and that of a task where its newest handoff or ticket is.
func (s *Shell) longIDs(ctx context.Context, cmd *cobra.Command, args []string) ([]string, error) {
	of := placeholders(cmd)
	if len(args) == 0 || len(of) == 0 || of[0] == "[TASK]" && len(args) < len(of) {
		return args, nil
	}
	kind := strings.Trim(of[0], "[]")
	task, part, _ := strings.Cut(args[0], ".")
	if !slices.Contains([]string{"TASK", "HANDOFF", "TICKET", "ID"}, kind) || task != lastTask && !strings.HasPrefix(task, "task_") {
		return args, nil
	}
	letter, isPart := map[string]string{"HANDOFF": "h", "TICKET": "k"}[kind] // the first of the part of an id that the command takes
	if kind == "TASK" || isPart && !strings.HasPrefix(part, letter) {
		part = "" // its task is meant
	}
	short := len(task) < taskIDLength
	ofTask := isPart && part == ""
	if !short && !ofTask {
		return append([]string{joined(task, part)}, args[1:]...), nil
	}
	c, err := s.Dial(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case task == lastTask:
		task, err = newest(ctx, c)
	case short:
		task, err = unique(ctx, c, task)
	}
	id := joined(task, part)
	if err == nil && ofTask {
		id, err = newestOf(ctx, c, task, kind)
	}
	if err != nil {
		return nil, err
	}
	return append([]string{id}, args[1:]...), nil
}

// joined is the id of a part of a task, or that of the task.
func joined(task, part string) string {
	if part == "" {
		return task
	}
	return task + "." + part
}

// newestOf is the id of the newest handoff or ticket of a task, which has one of each at a time. That of a ticket is with the ticket for those who
// see no more of the task.
func newestOf(ctx context.Context, c *client.Client, task, kind string) (string, error) {
	if kind == "TICKET" {
		page, err := c.Tickets(ctx, client.TicketFilter{})
		if err != nil {
			return "", err
		}
		for _, k := range page.Tickets {
			if k.Task == task {
				return k.ID, nil
			}
		}
	}
	t, err := c.Task(ctx, task)
	switch {
	case err != nil:
		return "", err
	case kind == "TICKET" && t.Ticket != nil:
		return t.Ticket.ID, nil
	case kind == "TICKET":
		return "", Hinted(Usagef("%s has no ticket", task), "trapeze ticket list lists the tickets that are open")
	case t.Handoff == nil:
		return "", Hinted(Usagef("%s has no handoff", task), "trapeze inbox lists the offers that wait for you")
	}
	return t.Handoff.ID, nil
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
		return "", Hinted(Usagef("%s begins the ids of %d tasks: type more of it", begin, len(found)), listTasks)
	case !all:
		return "", Hinted(Usagef("there are too many tasks to tell which one %s is: type the whole id", begin), listTasks)
	case len(found) == 0:
		return "", Hinted(Usagef("no task is %s", begin), listTasks)
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
