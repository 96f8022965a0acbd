package shell

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/last"
	"github.com/trapezehq/trapeze/internal/cli/usage"
)

// LastTask stands for the task that the caller created or handed off last from this machine, or else for the newest that the caller requested.
const LastTask = "@last"

// listTasks is the hint for those who need the id of a task.
const listTasks = "trapeze task list lists the tasks that you see"

// mostPages bounds the pages of tasks that are looked at.
const mostPages = 40

// taskIDLength is the length of a whole task id.
const taskIDLength = len("task_") + 26

// takesIDs is the annotation of flags whose values are ids of tasks, or of handoffs: it has TASK or HANDOFF.
const takesIDs = "trapeze_ids"

// TaskFlag defines a flag that takes the id of a task, which may be short: see longID.
func TaskFlag(f *pflag.FlagSet, p *string, name, usage string) {
	f.StringVar(p, name, "", usage)
	TakesIDs(f, name, "TASK")
}

// TakesIDs says that a flag takes ids of a kind, TASK or HANDOFF, which may be short: see longID.
func TakesIDs(f *pflag.FlagSet, name, kind string) { annotate(f, name, takesIDs, kind) }

// IDsOf is the kind of the ids that a flag takes; empty if it takes none.
func IDsOf(f *pflag.Flag) string { return strings.Join(f.Annotations[takesIDs], "") }

// longIDs replaces what stands for an id, in the arguments and the flags of a command, by that id.
func (s *Shell) longIDs(ctx context.Context, cmd *cobra.Command, args []string) ([]string, error) {
	of := usage.Placeholders(cmd)
	if len(of) > 0 && of[0] == "[TASK]" && len(args) < len(of) {
		of = of[1:]
	}
	long := slices.Clone(args)
	var err error
	for i := range min(len(of), len(args)) {
		if long[i], err = s.longID(ctx, strings.Trim(of[i], "[]"), args[i]); err != nil {
			return nil, err
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if kind := IDsOf(f); kind != "" && err == nil {
			err = s.longFlag(ctx, f, kind)
		}
	})
	return long, err
}

// longFlag replaces what stands for ids in the value of a flag.
func (s *Shell) longFlag(ctx context.Context, f *pflag.Flag, kind string) error {
	list, several := f.Value.(pflag.SliceValue)
	if !several {
		id, err := s.longID(ctx, kind, f.Value.String())
		if err != nil {
			return err
		}
		return f.Value.Set(id)
	}
	ids := list.GetSlice()
	for i, id := range ids {
		var err error
		if ids[i], err = s.longID(ctx, kind, id); err != nil {
			return err
		}
	}
	return list.Replace(ids)
}

// longID returns the id that a value stands for, where an id of a kind is expected: @last and the unique beginning of a task's id; the id of a
// handoff for that of its task or of its ticket; and that of a task for that of its newest handoff or ticket. Other values are returned as they are,
// and those of another kind are refused by the server.
func (s *Shell) longID(ctx context.Context, kind, value string) (string, error) {
	task, part, _ := strings.Cut(value, ".")
	if strings.HasPrefix(value, "@") && task != LastTask && slices.Contains([]string{"TASK", "HANDOFF", "TICKET"}, kind) {
		return "", Hinted(Usagef("%q is no id; did you mean %s?", value, LastTask), listTasks)
	}
	if !slices.Contains([]string{"TASK", "HANDOFF", "TICKET", "ID"}, kind) || task != LastTask && !strings.HasPrefix(task, "task_") {
		return value, nil
	}
	short, handoff := len(task) < taskIDLength, strings.HasPrefix(part, "h")
	if handoff && (kind == "TASK" || kind == "TICKET") {
		part = "" // its task is meant
	}
	ofTask, ofHandoff := part == "" && (kind == "HANDOFF" || kind == "TICKET"), handoff && kind == "TASK"
	if !short && !ofTask && !ofHandoff {
		return joined(task, part), nil
	}
	c, err := s.Dial(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case task == LastTask:
		task, err = s.last(ctx, c)
	case short:
		task, err = unique(ctx, c, task)
	case ofHandoff: // one that does not exist must not stand for its task
		_, err = c.Handoff(ctx, value)
	}
	if err == nil && ofTask {
		return newestOf(ctx, c, task, kind)
	}
	return joined(task, part), err
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

// last is the task that [Shell.Remember] remembers of the caller, if the server has it, or else the newest that the caller requested.
func (s *Shell) last(ctx context.Context, c *client.Client) (string, error) {
	dir, caller := s.memory()
	if id := last.Load(dir, caller); strings.HasPrefix(id, "task_") {
		if _, err := c.Task(ctx, id); !errors.Is(err, client.NotFound) {
			return id, err
		}
	}
	return newest(ctx, c)
}

// Remember makes a task the one that @last stands for. Without a directory to keep it in, that is the newest one, as [Shell.last] says.
func (s *Shell) Remember(task string) {
	if dir, caller := s.memory(); dir != "" && task != "" {
		_ = last.Save(dir, caller, task)
	}
}

// memory is where the last task of the caller is remembered: of an agent by its name, of a token by its digest.
func (s *Shell) memory() (dir, caller string) {
	path, err := s.agentTokenFile("any")
	if _, missing := os.Stat(filepath.Dir(filepath.Dir(path))); err != nil || missing != nil {
		return "", "" // a command alone makes no data directory
	}
	return filepath.Join(filepath.Dir(path), "last"), last.Caller(s.Chosen(), cmp.Or(s.Flags.Token, s.Getenv("TRAPEZE_TOKEN")))
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
		err = Hinted(Usagef("%s has requested no task: give its id", Principal(me.Role, me.Name)), "trapeze inbox shows what is offered to you; "+listTasks)
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
