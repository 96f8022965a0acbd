package shell

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
)

// completeWait is how long the completion of a value waits for the server.
const completeWait = 2 * time.Second

// agentFlags are the flags whose values are names of agents.
var agentFlags = []string{"agent", "to", "from", "owner", "fallback", "escalation"}

// CompleteValues completes the names of agents, and the ids of tasks, offers and tickets, for a command and all below it.
func (s *Shell) CompleteValues(cmd *cobra.Command) {
	if of := placeholders(cmd); len(of) > 0 && cmd.ValidArgsFunction == nil {
		group := ""
		if cmd.HasParent() {
			group = cmd.Parent().Name()
		}
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) >= len(of) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			read := values[strings.Trim(of[len(args)], "[]")]
			if of[len(args)] == "NAME" && group == "agent" {
				read = agentNames
			}
			return s.complete(cmd.Context(), read, typed)
		}
	}
	for _, name := range agentFlags {
		if cmd.LocalNonPersistentFlags().Lookup(name) == nil && (cmd.HasParent() || cmd.PersistentFlags().Lookup(name) == nil) {
			continue
		}
		_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return s.complete(cmd.Context(), agentNames, typed)
		})
	}
	for _, c := range cmd.Commands() {
		s.CompleteValues(c)
	}
}

// values read what may stand for a placeholder.
var values = map[string]func(context.Context, *client.Client) ([]string, error){
	"AGENT": agentNames, "TASK": taskIDs, "HANDOFF": offerIDs, "TICKET": ticketIDs,
}

// complete lists the values that begin with what was typed. Without a server there are none; files are completed if nothing is known
// of the values.
func (s *Shell) complete(ctx context.Context, read func(context.Context, *client.Client) ([]string, error), typed string) ([]string, cobra.ShellCompDirective) {
	if read == nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	ctx, cancel := context.WithTimeout(ctx, completeWait)
	defer cancel()
	c, err := s.Dial(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, err := read(ctx, c)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.DeleteFunc(list, func(v string) bool { return !strings.HasPrefix(v, typed) }), cobra.ShellCompDirectiveNoFileComp
}

func agentNames(ctx context.Context, c *client.Client) (names []string, err error) {
	list, err := c.Agents(ctx)
	for _, a := range list.Agents {
		names = append(names, a.Name)
	}
	return names, err
}

// taskIDs are the tasks that have not ended, with the beginnings of their intents.
func taskIDs(ctx context.Context, c *client.Client) (ids []string, err error) {
	page, err := c.Tasks(ctx, client.TaskFilter{Live: true})
	for _, t := range page.Tasks {
		ids = append(ids, t.ID+"\t"+OneLine(Clip(t.Intent, 40)))
	}
	return ids, err
}

// offerIDs are the handoffs in the caller's inbox.
func offerIDs(ctx context.Context, c *client.Client) (ids []string, err error) {
	box, err := c.Inbox(ctx, client.InboxOptions{Peek: true, Limit: 50})
	for _, i := range box.Items {
		if i.Type == "offer" || i.Type == "approval" || i.Type == "confirm" {
			ids = append(ids, i.ID+"\t"+OneLine(Clip(i.Intent, 40)))
		}
	}
	return ids, err
}

func ticketIDs(ctx context.Context, c *client.Client) (ids []string, err error) {
	page, err := c.Tickets(ctx, client.TicketFilter{})
	for _, k := range page.Tickets {
		ids = append(ids, k.ID+"\t"+OneLine(Clip(k.Question, 40)))
	}
	return ids, err
}
