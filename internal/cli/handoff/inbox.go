package handoff

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Inbox is the command trapeze inbox.
func Inbox(s *shell.Shell) *cobra.Command {
	var o client.InboxOptions
	var wait shell.Duration
	cmd := s.Call("inbox", "List what waits for you, or wait for it", noAgent, func(ctx context.Context, c *client.Client, _ []string) error {
		o.Peek = !o.See
		box, err := waitInbox(ctx, s, c, o, time.Duration(wait))
		if err == nil && len(box.Items) == 0 && o.Agent == "" {
			if who := s.Unnamed(ctx, c); who != "" {
				s.RemindAgent(ctx, c, "this is the inbox of "+who)
			}
		}
		next := ""
		if err == nil && len(box.Items) == 0 && o.Agent == "" && !s.Flags.JSON {
			next = nextOfNone(ctx, c)
		}
		return s.Answer(box, err, func(p *shell.Page) { inboxTable(p, box.Items, next, o) })
	})
	cmd.Long = `List what waits for the agent that you act as (--agent NAME), highest priority first. The types of items:

    offer       a handoff offered to you: trapeze accept or trapeze reject. You have until the time in the list. A program
                that answers at once says --seen: that starts the acknowledgment timeout
    confirm     your handoff was accepted and waits for trapeze confirm
    approval    a supervised handoff waits for trapeze approve or trapeze deny; operators see those that any of them may decide
    question    a question to you by name: trapeze ticket answer
    takeover    another agent asks to take over your task: trapeze approve or trapeze deny
    share       context that was shared with you: trapeze envelope render ID
    resumed     you own the task again: the results of a delegation or fan-out, or an answer, have arrived, or a handoff came
                back; or you own it now: the takeover that you asked for was granted. trapeze task show ID has the details. Listed until you report progress, end the task or hand it off
    returned    no receiver took the task that you requested: trapeze send ID hands it to another, trapeze task start ID makes
                it yours, trapeze task cancel ID ends it
    stranded    a child that your task waits for is in the dead letters: trapeze task cancel ID continues without it, or an
                operator replays it
    taken       another agent owns your task now, or a handoff that you accepted was taken back: stop working on it
    cancelled   your task, or one that you requested, was cancelled: stop working on it
    parked      your task, or one that you requested, is in the dead letters: stop working on it; an operator replays it
    completed   a task that you requested is completed: trapeze task show ID has the result
    failed      a task that you requested has failed: trapeze task show ID has the reason

The last five are notices of what you did not cause. They need no answer, and are listed until they are seen: with --seen, or by
trapeze task show ID --wait, as the same agent.

--wait waits up to 30s for the first item; --wait=10m waits longer. If none arrives, the list is empty and the exit code 0.
With --after CURSOR, items that an earlier answer already had are omitted and do not end the wait; an offer that is made
again is listed again.`
	f := cmd.Flags()
	f.Var(&wait, "wait", "wait for the first item, at most this long")
	f.Lookup("wait").NoOptDefVal = "30s"
	f.StringVar(&o.After, "after", "", "list only items after this cursor, from an earlier answer (--json)")
	f.IntVar(&o.Limit, "limit", 0, "maximum number of items, up to 500 (default 10)")
	f.BoolVar(&o.See, "seen", false, "mark offers and notices as seen; the acknowledgment timeout of the offers starts")
	f.StringVar(&o.Agent, "of", "", "list the inbox of this agent, as an operator or auditor")
	return cmd
}

// noAgent refuses arguments. The usual one is the agent whose inbox is meant.
func noAgent(cmd *cobra.Command, args []string) error {
	err := shell.NoArgs(cmd, args)
	if len(args) == 1 && event.CheckName("agent", args[0]) == nil && !cmd.Flags().Changed("wait") {
		return shell.Hinted(err, "to see the inbox of the agent "+args[0]+": "+shellword.Command("trapeze inbox --agent", args[0]))
	}
	return err
}

// waitInbox waits for the first item.
func waitInbox(ctx context.Context, s *shell.Shell, c *client.Client, o client.InboxOptions, wait time.Duration) (client.Inbox, error) {
	return shell.WaitThrough(ctx, s, c, wait, func(ctx context.Context, wait time.Duration) (client.Inbox, bool, error) {
		o.Wait = wait
		box, err := c.Inbox(ctx, o)
		return box, len(box.Items) > 0, err
	})
}

// maxTickets is how many open tickets an empty inbox names.
const maxTickets = 3

// nextOfNone says what the reader of an empty inbox can do: handle a ticket that is open, or wait.
func nextOfNone(ctx context.Context, c *client.Client) string {
	page, err := c.Tickets(ctx, client.TicketFilter{Mine: true})
	if err != nil { // the inbox is all that was asked for
		return ""
	}
	var open []string
	for _, t := range page.Tickets {
		if slices.ContainsFunc(t.Verbs, func(verb string) bool { return verb != "deny" && verb != "withdraw" }) {
			open = append(open, t.ID)
		}
	}
	if len(open) == 0 {
		return " To wait for work, add --wait."
	}
	named, more := open[:min(len(open), maxTickets)], ""
	if len(open) > maxTickets || page.Next != "" {
		more = " and others (trapeze ticket list)"
	}
	return " Tickets wait for you: " + shell.Names(named) + more + ". Next: " + shellword.Command("trapeze ticket show", open[0])
}

// inboxTable shows items.
func inboxTable(p *shell.Page, items []client.Item, next string, o client.InboxOptions) {
	shell.List(p, "The inbox is empty."+next, []string{"TYPE", "ID", "FROM", "PRIORITY", "KIND", "ENDS", "INTENT"}, items, func(i client.Item) []string {
		return []string{i.Type, i.ID, i.From, string(i.Priority), string(i.Kind), shell.Clock(i.Ends), shell.Clip(i.Intent, 60)}
	})
	for _, i := range items {
		if line := itemLine(i); line != "" {
			p.Next("%s", line)
		}
	}
	if o.Agent != "" || o.See || !slices.ContainsFunc(items, client.Item.Notice) {
		return
	}
	also := ""
	if slices.ContainsFunc(items, func(i client.Item) bool { return i.Type == "offer" }) {
		also = ", which also starts the time in which the offers must be answered"
	}
	p.Next("Notices are listed until they are seen: %s%s", "trapeze inbox --seen", also)
}

// itemLine is what the row of an item has no room for, and what to do next; empty for offers, whose content is read once they are accepted.
func itemLine(i client.Item) string {
	var text, next string
	switch {
	case i.Type == "offer", !i.Notice() && i.Detail == "":
		return ""
	case i.Type == "returned":
		text, next = "it came back", "hand it off again: "+shellword.Command("trapeze send", i.Task)+" --to NAME"
	case !i.Notice():
		return shell.OneLine(i.ID + ": " + i.Detail)
	case i.Type == "taken":
		text = i.From + " took it"
	case i.Type == "parked":
		text, next = "it is in the dead letters", "an operator can replay it: "+shellword.Command("trapeze dead replay", i.Task)
	case i.Type == "completed":
		text, next = i.From+" completed it", "read the result: "+shellword.Command("trapeze task show", i.Task)+" --wait"
	case i.Type == "failed":
		text, next = i.From+" gave up", "see how far it got: "+shellword.Command("trapeze task show", i.Task)+" --wait"
	default:
		text = i.From + " cancelled it"
	}
	if i.Detail != "" {
		text += ": " + i.Detail
	}
	if i.Notice() && i.Epoch != 0 {
		next = "stop working on it"
	}
	return shell.OneLine(strings.TrimSuffix(i.ID+": "+text+"; "+next, "; "))
}
