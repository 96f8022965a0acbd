package mcpapi

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/resource"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
)

type statusInput struct {
	ID      string `json:"id,omitempty" jsonschema:"id of a task, handoff, ticket or share; if omitted: the tasks you own, requested or are offered, and open tickets"`
	History bool   `json:"history,omitempty" jsonschema:"all recorded events of the task"`
	Wait    int    `json:"wait,omitempty" jsonschema:"seconds to wait until it ends, at most 50; with after: until it changes"`
	After   uint64 `json:"after,omitempty" jsonschema:"position of the previous answer"`
}

// standing is the state of a task, a handoff or a ticket, or a list of tasks and tickets. A history and a shared context are
// answered as text alone.
type standing struct {
	Task     *show.Task    `json:"task,omitempty"`
	Ticket   *show.Ticket  `json:"ticket,omitempty"`
	Tasks    []taskLine    `json:"tasks,omitempty"`
	Tickets  []show.Ticket `json:"tickets,omitempty"`
	More     bool          `json:"more,omitempty"`
	Position uint64        `json:"position"`
}

type taskLine struct {
	ID     string   `json:"id"`
	State  string   `json:"state"`
	Owner  string   `json:"owner,omitempty"`
	To     []string `json:"to,omitempty"`
	Intent string   `json:"intent"`
}

const (
	mostTasks   = 30
	mostHistory = 200
)

var statusTool = defineText[statusInput]("status", "Show a task", looks,
	"Show the state of a task, handoff or ticket, with answers and the results of child tasks; or its history; or all your tasks. With wait, it blocks.",
	func(ctx context.Context, c *call, in statusInput) (answer, error) {
		if err := in.check(); err != nil {
			return answer{}, err
		}
		defer c.alive(ctx, "waiting for a change")()
		switch {
		case in.ID == "":
			return c.mine(ctx)
		case strings.Contains(in.ID, ".k"):
			k, err := liveness.WaitThroughRestart(ctx, c.options.Remote, in.Wait, func(wait time.Duration) (client.Ticket, error) { return c.Ticket(ctx, in.ID, wait) })
			if err != nil {
				return answer{}, err
			}
			now := show.TicketOf(k)
			return answer{text: show.TicketText(k), data: standing{Position: k.Position, Ticket: &now}}, nil
		case strings.Contains(in.ID, ".s"):
			return c.shared(ctx, in.ID)
		case in.History:
			return c.history(ctx, taskOf(in.ID))
		}
		t, err := liveness.WaitThroughRestart(ctx, c.options.Remote, in.Wait, func(wait time.Duration) (client.Task, error) { return c.WaitTask(ctx, taskOf(in.ID), in.After, wait) })
		if err != nil {
			return answer{}, err
		}
		now := show.TaskOf(t)
		c.lookAtChildren(ctx, now.Children)
		text := now.String()
		if next := nextOf(c.set, t, in.Wait > 0); next != "" {
			text += "Next: " + next
		}
		return answer{text: text, data: standing{Task: &now, Position: t.Position}, status: liveness.AfterRead(t), more: resource.TaskLinks(t.ID, t.Envelope)}, nil
	})

// mostChildren is the maximum number of child tasks whose own state an answer has.
const mostChildren = 16

// lookAtChildren sets the state of child tasks that have not ended to that of their own tasks: a parent hears of a child when it ends.
func (c *call) lookAtChildren(ctx context.Context, list []show.Child) {
	looked := 0
	for i, k := range list {
		if client.State(k.State).Final() || looked == mostChildren {
			continue
		}
		looked++
		if t, err := c.Task(ctx, k.Task); err == nil { // otherwise what its parent has heard
			list[i] = k.At(t)
		}
	}
}

// check refuses arguments that would have no effect.
func (in statusInput) check() error {
	switch {
	case in.Wait < 0 || in.Wait > maxWait:
		return invalid("wait is %d; use 0 to %d seconds and call again if nothing changed", in.Wait, maxWait)
	case in.ID == "" && (in.Wait > 0 || in.History):
		return invalid("wait and history need the id of one task")
	case in.History && (in.Wait > 0 || strings.Contains(in.ID, ".k")):
		return invalid("history needs the id of a task, without wait")
	}
	return nil
}

func (c *call) history(ctx context.Context, task string) (answer, error) {
	trail, err := c.Trail(ctx, task)
	if err != nil {
		return answer{}, err
	}
	entries := trail.Entries
	more := len(entries) > mostHistory
	entries = entries[max(0, len(entries)-mostHistory):]
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s %s by %s %s\n", e.Timestamp.Format("15:04:05"), e.Event, e.Agent, show.Clip(show.OneLine(string(e.Details)), 200))
	}
	if more {
		fmt.Fprintf(&b, "These are the last %d of %d events; trapeze://task/%s/history has all of them.\n", mostHistory, len(trail.Entries), task)
	}
	return answer{text: b.String()}, nil
}

// shared returns the context of a task that was shared with the caller. Reading it removes it from the inbox.
func (c *call) shared(ctx context.Context, id string) (answer, error) {
	s, err := c.Content(ctx, id, client.ContentInput{Render: true})
	if err != nil {
		return answer{}, err
	}
	return answer{text: s.Prompt}, nil
}

// mine lists the live tasks and open tickets that the caller is involved in; for an operator, all of them.
func (c *call) mine(ctx context.Context) (answer, error) {
	page, err := c.Tasks(ctx, client.TaskFilter{Live: true, Limit: mostTasks})
	if err != nil {
		return answer{}, err
	}
	out := standing{Tasks: []taskLine{}, Position: page.Position, More: page.Next != ""}
	var b strings.Builder
	for _, t := range page.Tasks {
		out.Tasks = append(out.Tasks, taskLine{t.ID, string(t.State), t.Owner, t.To, t.Intent})
		fmt.Fprintf(&b, "- %s %s, owner %s", t.ID, strings.ReplaceAll(string(t.State), "_", " "), cmp.Or(t.Owner, "nobody"))
		if len(t.To) > 0 {
			b.WriteString(", offered to " + strings.Join(t.To, ", "))
		}
		b.WriteString(": " + show.OneLine(t.Intent) + "\n")
	}
	if len(page.Tasks) == 0 {
		b.WriteString(c.say("No open tasks. To see a task that has ended, call {status} with its id.\n"))
	}
	err = c.tickets(ctx, &out, &b)
	return answer{text: b.String(), data: out}, err
}
