package mcpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type joinInput struct {
	Readiness   client.Readiness `json:"readiness,omitempty" jsonschema:"default ready"`
	Description string           `json:"description,omitempty" jsonschema:"what you do, so that others can find you"`
	Channels    argument.List    `json:"channels,omitempty" jsonschema:"channels to subscribe to"`
}

type joined struct {
	You       string            `json:"you"`
	Readiness string            `json:"readiness,omitempty"`
	Waiting   int               `json:"waiting"`
	Holding   int               `json:"holding"`
	Agents    []show.OtherAgent `json:"agents"`
	More      int               `json:"more,omitempty"`
	Next      string            `json:"next"`
}

const maxAgents = 50

var joinTool = define[joinInput, joined]("join", "Register as ready for work", tool.Repeats,
	"Register as ready for work, or set another readiness (busy, draining, offline). Call it first. Returns your name, the other agents, and how many items wait in your inbox.",
	func(ctx context.Context, c *call, in joinInput) (answer, error) {
		me, err := c.Me(ctx)
		if err != nil {
			return answer{}, err
		}
		out := joined{You: me.Name, Agents: []show.OtherAgent{}, Next: c.Say("wait for work with {inbox}")}
		if me.Agent != "" {
			if err := c.appear(ctx, me.Agent, in, &out); err != nil {
				return answer{}, err
			}
		} else {
			if in.says() {
				return answer{}, invalid("readiness, description and channels are for agents, and your token belongs to %s/%s: omit them", me.Role, me.Name)
			}
			out.Next = c.Say("{inbox} lists what waits for approval, {status} lists all tasks and open tickets; answer them with {decide}")
		}
		list, err := c.Agents(ctx)
		if err != nil {
			return answer{}, err
		}
		for _, a := range list.Agents {
			switch {
			case a.Name == me.Agent:
			case len(out.Agents) == maxAgents:
				out.More++
			default:
				out.Agents = append(out.Agents, show.OtherAgentOf(a, me.Now))
			}
		}
		return answer{Text: out.String(), Data: out}, nil
	})

func (in joinInput) says() bool {
	return in.Readiness != "" || in.Description != "" || len(in.Channels) > 0
}

// introduce registers the agent if it is not registered yet, updates its description, and subscribes it to channels.
func (c *call) introduce(ctx context.Context, name string, in joinInput) (client.Agent, error) {
	a, err := c.Agent(ctx, name)
	absent := errors.Is(err, client.NotFound)
	if err != nil && !absent {
		return a, err
	}
	if absent || in.Description != "" && in.Description != a.Spec.Description {
		a.Spec.Description = in.Description
		if a, err = c.RegisterAgent(ctx, name, a.Spec); err != nil {
			return a, err
		}
	}
	return a, c.subscribe(ctx, in.Channels)
}

// appear sets the readiness of an agent and counts the items in its inbox.
func (c *call) appear(ctx context.Context, name string, in joinInput, out *joined) error {
	ctx = client.WithKey(ctx, "") // a key covers one change, and these are several; each is idempotent
	a, err := c.introduce(ctx, name, in)
	if err != nil {
		return err
	}
	wanted := cmp.Or(in.Readiness, client.Ready)
	if a.Readiness != wanted {
		if a, err = c.SetReadiness(ctx, name, wanted); err != nil {
			return err
		}
	}
	box, err := c.Inbox(ctx, client.InboxOptions{Peek: true, Limit: 500})
	if err != nil {
		return err
	}
	out.Readiness, out.Holding, out.Waiting = string(a.Readiness), a.Held, len(box.Items)
	switch {
	case out.Waiting == 0 && a.Spec.Kind == show.HumanKind:
		out.Next = c.Say("{status} lists the tickets of your desks, which are not in the inbox: answer them with {decide}. {inbox} waits for items addressed to you by name")
	case out.Waiting > 0:
		out.Next = c.Say("{inbox} shows the items, and which tool answers each")
	case out.Holding > 0:
		out.Next = c.Say("{status} shows the tasks you own: continue them")
	case a.Readiness != client.Ready:
		out.Next = c.Say("you get no new offers until you call {join} with readiness=ready")
	}
	return nil
}

func (j joined) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "You are %s", j.You)
	if j.Readiness != "" {
		fmt.Fprintf(&b, ", %s; %d waiting in your inbox, %d held", j.Readiness, j.Waiting, j.Holding)
	}
	b.WriteString(".\n")
	for _, n := range j.Agents {
		fmt.Fprintf(&b, "- %s (%s)", n.Name, strings.TrimSuffix(n.Readiness+", "+n.Notes, ", "))
		if len(n.Capabilities) > 0 {
			b.WriteString(" can: " + strings.Join(n.Capabilities, ", "))
		}
		if n.Description != "" {
			b.WriteString(" - " + show.Line(n.Description))
		}
		b.WriteString("\n")
	}
	if j.More > 0 {
		fmt.Fprintf(&b, "and %d more\n", j.More)
	}
	return b.String() + "Next: " + j.Next
}
