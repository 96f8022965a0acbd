package extratool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type deadInput struct {
	Action     string               `json:"action" enum:"list,replay,discard" jsonschema:"list: the dead letters you may see. replay: offer one again. discard: end it"`
	Task       string               `json:"task,omitempty" jsonschema:"a task in the dead letters"`
	Why        string               `json:"why,omitempty" jsonschema:"it is recorded"`
	To         argument.List        `json:"to,omitempty" jsonschema:"with replay: other agents"`
	Capability string               `json:"capability,omitempty" jsonschema:"with replay"`
	Route      argument.List        `json:"route,omitempty" jsonschema:"with replay: a new route, agents in turn"`
	Deadline   argument.Moment      `json:"deadline,omitzero" jsonschema:"with replay: a new deadline"`
	Home       bool                 `json:"home,omitempty" jsonschema:"with replay: back to its owner"`
	Kind       client.Kind          `json:"kind,omitempty" jsonschema:"with replay: of the new handoff, not broadcast or delegation"`
	Ask        string               `json:"ask,omitempty" jsonschema:"with replay: what the receiver must accomplish, in place of what was asked"`
	Questions  argument.Restriction `json:"questions,omitempty" jsonschema:"with replay: open questions in place of the earlier ones; none: all are answered"`
	Tokens     int64                `json:"tokens,omitempty" jsonschema:"with replay: a new token budget"`
	Cost       int64                `json:"cost,omitempty" jsonschema:"with replay: a new cost budget, in millionths of the currency"`
	Key        string               `json:"key,omitempty"`
}

// letters is a list of dead letters.
type letters struct {
	Letters []letter `json:"letters"`
	More    bool     `json:"more,omitempty"`
}

// deadAnswer has the fields of a receipt, or those of letters.
type deadAnswer struct {
	Task    string       `json:"task,omitempty"`
	State   client.State `json:"state,omitempty"`
	Letters []letter     `json:"letters,omitempty"`
}

type letter struct {
	Task   string    `json:"task"`
	Cause  string    `json:"cause"`
	Detail string    `json:"detail,omitempty"`
	Since  time.Time `json:"since"`
	Intent string    `json:"intent"`
}

const mostLetters = 30

var deadTool = tool.Define[deadInput, deadAnswer]("dead", "Revive or discard a dead letter", tool.Destroys,
	"List the dead letters. For operators: offer one again, with fresh limits; or discard it.",
	func(ctx context.Context, c *tool.Call, in deadInput) (tool.Answer, error) {
		ctx = tool.Keyed(ctx, in.Key)
		changes := len(in.To) > 0 || in.Capability != "" || len(in.Route) > 0 || !in.Deadline.At.IsZero() || in.Home || in.Kind != "" || in.Tokens+in.Cost != 0 || in.Ask != "" || in.Questions.Values() != nil
		switch {
		case in.Action == "list" && (in.Task+in.Why != "" || changes):
			return tool.Answer{}, argument.Invalid("list takes no other argument: omit them")
		case in.Action == "list":
			return listDead(ctx, c)
		case in.Task == "":
			return tool.Answer{}, c.Invalid("{dead} needs task: the id of a task in the dead letters")
		case in.Action == "discard" && changes:
			return tool.Answer{}, argument.Invalid("discard takes task and why only: omit to, capability, route, deadline, home, kind, ask, questions, tokens and cost")
		case in.Action == "discard" && in.Why == "":
			return tool.Answer{}, argument.Invalid("discard needs why: the reason is recorded")
		case in.Action == "discard":
			r, err := c.Discard(ctx, in.Task, in.Why)
			return tool.Changed(r, err, "The task was discarded.", "")
		case in.Deadline.FromNow && in.Key != "":
			return tool.Answer{}, argument.Invalid("deadline is a time from now, and with key a repeated call must say the same: write it as 2026-01-31T15:00:00Z")
		}
		r, err := c.Replay(ctx, in.Task, client.ReplayInput{
			To: in.To, Capability: in.Capability, Route: in.Route, Deadline: in.Deadline.At, Home: in.Home, Note: in.Why, Kind: in.Kind,
			Budget: client.Spend{Tokens: in.Tokens, Cost: in.Cost}, Content: client.Content{Ask: in.Ask, Questions: in.Questions.Values()},
		})
		return tool.Changed(r, err, "The task was revived.", "")
	})

func listDead(ctx context.Context, c *tool.Call) (tool.Answer, error) {
	page, err := c.Dead(ctx, "", mostLetters)
	if err != nil {
		return tool.Answer{}, err
	}
	out, text := letters{Letters: []letter{}, More: page.Next != ""}, strings.Builder{}
	for _, t := range page.Tasks {
		l := letter{Task: t.ID, Intent: t.Intent}
		if t.Parked != nil {
			l.Cause, l.Detail, l.Since = t.Parked.Cause, t.Parked.Detail, t.Parked.Since
		}
		out.Letters = append(out.Letters, l)
		fmt.Fprintf(&text, "- %s (%s: %s): %s\n", t.ID, strings.ReplaceAll(l.Cause, "_", " "), show.Line(l.Detail), show.Line(t.Intent))
	}
	if len(page.Tasks) == 0 {
		text.WriteString("No dead letters.\n")
	}
	if out.More {
		text.WriteString("There are more.\n")
	}
	return tool.Answer{Text: text.String(), Data: out}, nil
}
