package mcpapi

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/fit"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/resource"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type statusInput struct {
	ID       string        `json:"id,omitempty" jsonschema:"id of a task, handoff, ticket or share; if omitted: the tasks you own, requested or are offered, and open tickets"`
	History  bool          `json:"history,omitempty" jsonschema:"the newest recorded events of the task"`
	Before   uint64        `json:"before,omitempty" jsonschema:"with history: position; the events before it"`
	Document bool          `json:"document,omitempty" set:"all" jsonschema:"all that is recorded of a handoff, by its id, past ones too: its parts, envelope and trail"`
	Preview  bool          `json:"preview,omitempty" jsonschema:"the context of an offer to you, by the id of the handoff, before you accept it"`
	Parts    argument.List `json:"parts,omitempty" jsonschema:"instead: parts of its context that were left out, such as fact:f12, decision:d3, step:4, data, a memory id or a digest; a kind for all of it; or all"`
	Tokens   int           `json:"tokens,omitempty" jsonschema:"with parts: most tokens of the answer; if omitted 4000, or half your context window"`
	Wait     int           `json:"wait,omitempty" jsonschema:"seconds to wait until it ends, at most 50; with after: until it changes; use 8 if calls time out"`
	After    uint64        `json:"after,omitempty" jsonschema:"position of the previous answer; with parts: as the previous answer says"`
	Skip     int           `json:"skip,omitempty" jsonschema:"as the previous answer says"`
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

const mostTasks = 30

var statusTool = defineText[statusInput]("status", "Show a task", tool.Looks,
	"Show the state of a task, handoff or ticket, with answers and the results of child tasks; or its history; or parts of its context; or all your tasks. With wait, it blocks.",
	func(ctx context.Context, c *call, in statusInput) (answer, error) {
		if err := in.check(); err != nil {
			return answer{}, err
		}
		defer c.Alive(ctx, "waiting for a change")()
		switch {
		case len(in.Parts) > 0:
			return c.parts(ctx, in)
		case strings.Contains(in.ID, ".s"):
			return c.shared(ctx, in.ID)
		case in.Preview:
			return c.preview(ctx, in.ID)
		case in.History:
			return c.history(ctx, in)
		}
		a, err := c.standing(ctx, in)
		if err != nil {
			return answer{}, err
		}
		return fit.Page(ctx, c.Client, a, in.Skip)
	})

// standing answers with the state of what has the id, however long it is.
func (c *call) standing(ctx context.Context, in statusInput) (answer, error) {
	switch {
	case in.ID == "":
		return c.mine(ctx)
	case in.Document:
		text, err := resource.DocumentText(ctx, c.Client, in.ID)
		return answer{Text: text}, err
	case strings.Contains(in.ID, ".k"):
		k, err := c.WaitTicket(ctx, in.ID, in.Wait)
		if err != nil {
			return answer{}, err
		}
		now := show.TicketOf(k)
		return answer{Text: show.TicketText(k), Data: standing{Position: k.Position, Ticket: &now}}, nil
	}
	t, err := c.WaitTaskAfter(ctx, taskOf(in.ID), in.After, in.Wait)
	if err != nil {
		return answer{}, err
	}
	c.Session.Showed(ctx, t)
	now := show.TaskOf(t)
	if in.Wait == 0 && !t.State.Final() { // a wait is for what changes, and is called again and again
		now.Rules = show.ConstraintsOf(t)
	}
	show.LookAtChildren(ctx, c.Client, now.Children)
	text := now.String()
	if next := tool.NextOf(c.Set, t, in.Wait); next != "" {
		text += "Next: " + next
	}
	return answer{Text: text, Data: standing{Task: &now, Position: t.Position}, Status: liveness.AfterRead(t), More: resource.TaskLinks(t.ID, t.Envelope)}, nil
}

// check refuses arguments that would have no effect.
func (in statusInput) check() error {
	switch {
	case in.Wait < 0 || in.Wait > maxWait:
		return invalid("wait is %d; use 0 to %d seconds and call again if nothing changed", in.Wait, maxWait)
	case in.Document && (in.History || in.Wait > 0 || len(in.Parts) > 0):
		return invalid("document is a question of its own: omit history, wait and parts")
	case in.ID == "" && (in.Wait > 0 || in.History || in.Document || in.Preview):
		return invalid("wait, history, document and preview need the id of one task")
	case in.Preview && (in.History || in.Document || in.Wait > 0 || len(in.Parts) > 0):
		return invalid("preview is a question of its own: omit history, document, wait and parts")
	case len(in.Parts) > 0 && (in.ID == "" || in.History || in.Wait > 0 || isTicket(in.ID)):
		return invalid("parts needs the id of a task, a handoff or a share, without history and wait")
	case in.Before > 0 && !in.History:
		return invalid("before is for history only")
	case len(in.Parts) == 0 && in.Tokens != 0:
		return invalid("tokens is for parts only")
	case in.Skip < 0 || in.Skip > 0 && (in.History || in.Wait > 0 || len(in.Parts) > 0):
		return invalid("skip goes on with a long answer: give it as the answer says, with the same id, and without history, wait and parts")
	case in.After > math.MaxInt32 && len(in.Parts) > 0:
		return invalid("after is %d; use the one of the previous answer", in.After)
	case in.History && (in.Wait > 0 || strings.Contains(in.ID, ".k")):
		return invalid("history needs the id of a task, without wait")
	}
	return nil
}

func (c *call) history(ctx context.Context, in statusInput) (answer, error) {
	reader, err := fit.For(ctx, c.Client)
	if err != nil {
		return answer{}, err
	}
	text, err := resource.HistoryText(ctx, c.Client, taskOf(in.ID), in.Before, c.Set.Full(), reader.Reads)
	return answer{Text: text}, err
}

// parts returns parts of the context of a task, as its owner or the receiver of a share may read it.
func (c *call) parts(ctx context.Context, in statusInput) (answer, error) {
	p, err := c.Parts(ctx, in.ID, client.PartsInput{Parts: in.Parts, Tokens: in.Tokens, After: int(in.After), Via: client.ViaMCP})
	return answer{Text: p.Text, Fits: true}, err
}

// shared returns the context of a task that was shared with the caller. Reading it removes it from the inbox.
func (c *call) shared(ctx context.Context, id string) (answer, error) {
	s, err := c.Content(ctx, id, client.ContentInput{Render: true, Via: client.ViaMCP})
	if err != nil {
		return answer{}, err
	}
	return answer{Text: fit.Prompt(ctx, c.Call, s, 0), Fits: true}, nil
}

// preview returns the context of an offer to the caller, which does not accept it, or of a handoff that waits for an approver.
func (c *call) preview(ctx context.Context, id string) (answer, error) {
	s, err := c.Content(ctx, c.handoffOf(ctx, id), client.ContentInput{Render: true, Via: client.ViaMCP})
	if err != nil {
		return answer{}, err
	}
	return answer{Text: fit.Preview(ctx, c.Call, s), Fits: true}, nil
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
		b.WriteString(": " + show.Line(t.Intent) + "\n")
	}
	if len(page.Tasks) == 0 {
		b.WriteString(c.Say("No open tasks. To see a task that has ended, call {status} with its id.\n"))
	}
	err = c.tickets(ctx, &out, &b)
	return answer{Text: b.String(), Data: out}, err
}
