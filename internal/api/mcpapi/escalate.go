package mcpapi

import (
	"context"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type escalateInput struct {
	Task   string `json:"task,omitempty" jsonschema:"a task you own"`
	To     string `json:"to,omitempty" jsonschema:"an agent; default: the next level of your chain"`
	Detail string `json:"detail,omitempty" jsonschema:"the reason in words"`
	enclosed
	Stuck string `json:"stuck,omitempty" jsonschema:"instead: an agent or a task id that makes no progress; others are asked to take over"`
	Epoch uint64 `json:"epoch,omitempty"`
	Key   string `json:"key,omitempty"`
}

var escalateTool = define[escalateInput, escalated]("escalate", "Escalate a task, or report a stuck agent", tool.Changes,
	"Hand a task you own one level up your escalation chain, after the last level to people. Or report an agent or task that makes no progress (stuck).",
	func(ctx context.Context, c *call, in escalateInput) (answer, error) {
		ctx = tool.Keyed(ctx, in.Key)
		switch {
		case in.Stuck != "" && in.Task != "":
			return answer{}, invalid("give either task (one you own, to escalate) or stuck (an agent or a task of another)")
		case strings.HasPrefix(in.Stuck, "task_"):
			r, err := c.Stuck(ctx, in.Stuck, client.StuckInput{Detail: in.Detail})
			return tool.Changed(r, err, "Others were asked to take it over.", "")
		case in.Stuck != "":
			r, err := c.StuckAgent(ctx, in.Stuck, client.StuckAgentInput{Detail: in.Detail})
			if err != nil {
				return answer{}, err
			}
			return relieved(r), nil
		case in.Task == "":
			return answer{}, c.Invalid("{escalate} needs task (one you own) or stuck (an agent or task that makes no progress)")
		}
		epoch, err := c.Session.Epoch(ctx, in.Task, in.Epoch)
		if err != nil {
			return answer{}, err
		}
		content, err := in.content(ctx, c)
		if err != nil {
			return answer{}, err
		}
		r, err := c.Escalate(ctx, in.Task, client.EscalateInput{Epoch: epoch, To: in.To, Detail: in.Detail, Content: content})
		if err != nil {
			return answer{}, err
		}
		if r.State == client.Parked {
			return c.halted(ctx, r), nil
		}
		return tool.Told(r, "It was escalated.", c.Say("you own it until the next level accepts it; {status} shows who accepts")), nil
	})

// relieved answers a report of a stuck agent.
func relieved(r client.Relief) answer {
	out := escalated{Agent: r.Agent, Moved: []string{}}
	var b strings.Builder
	fmt.Fprintf(&b, "Tasks of %s that are offered to others: %d.\n", r.Agent, len(r.Moved))
	for _, m := range r.Moved {
		out.Moved = append(out.Moved, m.Task)
		fmt.Fprintf(&b, "- %s is offered to %s\n", m.Task, strings.Join(m.To, ", "))
	}
	for _, k := range r.Kept {
		out.Kept = append(out.Kept, k.Task+": "+k.Why)
		fmt.Fprintf(&b, "- %s was not moved: %s\n", k.Task, show.Line(k.Why))
	}
	return answer{Text: b.String(), Data: out}
}

// escalated is a receipt, or the result of a report of a stuck agent.
type escalated struct {
	Task  string   `json:"task,omitempty"`
	Agent string   `json:"agent,omitempty"`
	Moved []string `json:"moved,omitempty"`
	Kept  []string `json:"kept,omitempty"`
}
