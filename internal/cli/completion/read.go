package completion

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// described is a value with what the shell shows beside it.
func described(value, text string) string {
	if text == "" {
		return value
	}
	return value + "\t" + shell.OneLine(shell.Clip(text, 40))
}

func agentNames(ctx context.Context, c *client.Client, _ []string) (names []string, err error) {
	list, err := c.Agents(ctx)
	for _, a := range list.Agents {
		names = append(names, a.Name)
	}
	return names, err
}

// receivers are the agents, what stands for one, and the desks of people.
func receivers(ctx context.Context, c *client.Client, args []string) (names []string, err error) {
	if names, err = agentNames(ctx, c, args); err != nil {
		return nil, err
	}
	names = append(names, client.Auto)
	at, err := desks(ctx, c, args)
	for _, d := range at {
		names = append(names, "human:"+d)
	}
	return names, err
}

// capabilities are those of all agents, each once.
func capabilities(ctx context.Context, c *client.Client, _ []string) ([]string, error) {
	return capabilitiesOf(ctx, c, func(client.Agent) bool { return true })
}

// desks are those of the operators, and of people by their capabilities.
func desks(ctx context.Context, c *client.Client, _ []string) ([]string, error) {
	list, err := capabilitiesOf(ctx, c, func(a client.Agent) bool { return a.Spec.Kind == "human" })
	return append([]string{"operators"}, list...), err
}

func capabilitiesOf(ctx context.Context, c *client.Client, which func(client.Agent) bool) (names []string, err error) {
	list, err := c.Agents(ctx)
	for _, a := range list.Agents {
		if which(a) {
			names = append(names, a.Spec.Capabilities...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// people are those who have a token.
func people(ctx context.Context, c *client.Client, _ []string) (names []string, err error) {
	list, err := c.Tokens(ctx)
	for _, t := range list.Tokens {
		if t.Role != client.RoleAgent && t.Revoked.IsZero() {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

func tokens(ctx context.Context, c *client.Client, _ []string) (ids []string, err error) {
	list, err := c.Tokens(ctx)
	for _, t := range list.Tokens {
		if t.Revoked.IsZero() {
			ids = append(ids, described(t.ID, string(t.Role)+" "+t.Name+" "+t.Label))
		}
	}
	return ids, err
}

// The tasks that a command may be about, in the order of lists, and the word for the last one.
func liveTasks(ctx context.Context, c *client.Client, _ []string) ([]string, error) {
	return taskIDs(ctx, c, client.TaskFilter{Live: true})
}

func pendingTasks(ctx context.Context, c *client.Client, _ []string) ([]string, error) {
	return taskIDs(ctx, c, client.TaskFilter{State: client.Pending})
}

func recentTasks(ctx context.Context, c *client.Client, _ []string) ([]string, error) {
	return taskIDs(ctx, c, client.TaskFilter{})
}

func taskIDs(ctx context.Context, c *client.Client, f client.TaskFilter) (ids []string, err error) {
	page, err := c.Tasks(ctx, f)
	for _, t := range page.Tasks {
		ids = append(ids, described(t.ID, t.Intent))
	}
	return withLast(ids), err
}

func deadTasks(ctx context.Context, c *client.Client, _ []string) (ids []string, err error) {
	page, err := c.Dead(ctx, "", 0)
	for _, t := range page.Tasks {
		ids = append(ids, described(t.ID, t.Intent))
	}
	return ids, err
}

// withLast adds the word for the task that the caller requested last, if there are tasks.
func withLast(ids []string) []string {
	if len(ids) == 0 {
		return nil
	}
	return append(ids, described(shell.LastTask, "the task that you requested last"))
}

// recentHandoffs are the newest handoffs of tasks, open or over.
func recentHandoffs(ctx context.Context, c *client.Client, _ []string) ([]string, error) {
	return handoffIDs(ctx, c, func(client.TaskRow) bool { return true })
}

// openHandoffs are those that can be withdrawn.
func openHandoffs(ctx context.Context, c *client.Client, _ []string) ([]string, error) {
	return handoffIDs(ctx, c, func(t client.TaskRow) bool { return t.State == client.HandingOff })
}

func handoffIDs(ctx context.Context, c *client.Client, which func(client.TaskRow) bool) (ids []string, err error) {
	page, err := c.Tasks(ctx, client.TaskFilter{})
	for _, t := range page.Tasks {
		if t.Handoff != "" && which(t) {
			ids = append(ids, described(t.Handoff, t.Intent))
		}
	}
	return withLast(ids), err
}

// waiting reads the items of one type in the caller's inbox.
func waiting(kind string) func(context.Context, *client.Client, []string) ([]string, error) {
	return func(ctx context.Context, c *client.Client, _ []string) (ids []string, err error) {
		box, err := c.Inbox(ctx, client.InboxOptions{Peek: true, Limit: 50})
		for _, i := range box.Items {
			if i.Type == kind {
				ids = append(ids, described(i.ID, i.Intent))
			}
		}
		return ids, err
	}
}

// undecided are the requests that the caller can approve or deny: of its inbox, and the tickets of people.
func undecided(ctx context.Context, c *client.Client, args []string) (ids []string, err error) {
	for _, kind := range []string{"approval", "takeover"} {
		more, err := waiting(kind)(ctx, c, args)
		if err != nil {
			return nil, err
		}
		ids = append(ids, more...)
	}
	more, err := tickets(ctx, c, args)
	return append(ids, more...), err
}

func tickets(ctx context.Context, c *client.Client, _ []string) (ids []string, err error) {
	page, err := c.Tickets(ctx, client.TicketFilter{})
	for _, k := range page.Tickets {
		ids = append(ids, described(k.ID, cmp.Or(k.Question, k.Intent)))
	}
	return ids, err
}

func memoryItems(ctx context.Context, c *client.Client, _ []string) (ids []string, err error) {
	page, err := c.SearchMemory(ctx, client.MemoryFilter{Limit: 50})
	for _, m := range page.Items {
		ids = append(ids, described(m.ID, cmp.Or(m.Title, m.Excerpt, m.Text)))
	}
	return ids, err
}

func channels(ctx context.Context, c *client.Client, _ []string) (names []string, err error) {
	page, err := c.Channels(ctx, client.ChannelOptions{})
	for _, v := range page.Channels {
		names = append(names, described(v.Name, v.Description))
	}
	return names, err
}

func conversations(ctx context.Context, c *client.Client, _ []string) (names []string, err error) {
	page, err := c.Conversations(ctx, client.ConversationFilter{})
	for _, v := range page.Conversations {
		names = append(names, v.ID)
	}
	return names, err
}

func workspaces(ctx context.Context, c *client.Client, _ []string) (names []string, err error) {
	list, err := admin.New(c).Workspaces(ctx, admin.WorkspaceOptions{})
	for _, w := range list.Workspaces {
		names = append(names, described(w.Name, w.Description))
	}
	return names, err
}

func nodes(ctx context.Context, c *client.Client, _ []string) (names []string, err error) {
	k, err := admin.New(c).ShowCluster(ctx)
	for _, n := range k.Nodes {
		names = append(names, described(n.Name, string(n.State)))
	}
	return names, err
}

func alerts(ctx context.Context, c *client.Client, _ []string) (ids []string, err error) {
	list, err := admin.New(c).Alerts(ctx, admin.AlertOptions{})
	for _, a := range list.Alerts {
		ids = append(ids, described(a.ID, a.Meaning))
	}
	return ids, err
}

func silences(ctx context.Context, c *client.Client, _ []string) (ids []string, err error) {
	list, err := admin.New(c).Alerts(ctx, admin.AlertOptions{})
	for _, o := range list.Silences {
		ids = append(ids, described(o.ID, o.Alert+": "+o.Reason))
	}
	return ids, err
}

func holds(ctx context.Context, c *client.Client, _ []string) (subjects []string, err error) {
	list, err := admin.New(c).Erasures(ctx, admin.ErasureFilter{})
	for _, h := range list.Holds {
		subjects = append(subjects, described(h.Subject, h.Why))
	}
	return subjects, err
}

// constraints are those of the task that is named first.
func constraints(ctx context.Context, c *client.Client, args []string) (ids []string, err error) {
	if len(args) == 0 {
		return nil, nil
	}
	t, err := c.Task(ctx, args[0])
	for _, k := range t.Constraints {
		ids = append(ids, described(k.ID, k.Text))
	}
	return ids, err
}

// artifacts are the files that the envelopes of the newest live tasks refer to; there is no list of all.
func artifacts(ctx context.Context, c *client.Client, _ []string) (digests []string, err error) {
	const most = 5 // each is a call
	page, err := c.Tasks(ctx, client.TaskFilter{Live: true, Limit: most})
	for _, t := range page.Tasks {
		var doc struct {
			Artifacts []struct{ Digest, Name string }
		}
		if s, err := c.Content(ctx, t.ID, client.ContentInput{}); err != nil || json.Unmarshal(s.Envelope, &doc) != nil {
			continue // it has none yet, or the caller may not read it
		}
		for _, a := range doc.Artifacts {
			if v := described(a.Digest, a.Name); !slices.ContainsFunc(digests, func(have string) bool { return strings.HasPrefix(have, a.Digest) }) {
				digests = append(digests, v)
			}
		}
	}
	return digests, err
}
