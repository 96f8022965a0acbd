package mcpapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
)

type joinInput struct {
	Readiness   string        `json:"readiness,omitempty" enum:"ready,busy,draining,offline" jsonschema:"default ready"`
	Description string        `json:"description,omitempty" jsonschema:"what you do, for others to find you"`
	Channels    argument.List `json:"channels,omitempty" jsonschema:"to subscribe to"`
}

type joined struct {
	You       string       `json:"you"`
	Readiness string       `json:"readiness,omitempty"`
	Waiting   int          `json:"waiting"`
	Holding   int          `json:"holding"`
	Agents    []otherAgent `json:"agents"`
	More      int          `json:"more,omitempty"`
	Next      string       `json:"next"`
}

// neighbour is another agent, as one needs to know it to hand something to it.
type otherAgent struct {
	Name         string   `json:"name"`
	Readiness    string   `json:"readiness"`
	Notes        string   `json:"known,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Description  string   `json:"description,omitempty"`
}

// otherAgentOf is an agent with what is notes beside its own word: when it was last seen, what it holds, what its circuit says.
func otherAgentOf(a client.Agent, now time.Time) otherAgent {
	var notes []string
	switch away := now.Sub(a.Seen).Truncate(time.Minute); {
	case a.Seen.IsZero():
		notes = append(notes, "not seen since the server started")
	case away > 0:
		notes = append(notes, "last seen "+strings.TrimSuffix(away.String(), "0s")+" ago")
	}
	switch {
	case a.Spec.MaxTasks > 0:
		notes = append(notes, fmt.Sprintf("holds %d of %d", a.Held, a.Spec.MaxTasks))
	case a.Held > 0:
		notes = append(notes, fmt.Sprintf("holds %d", a.Held))
	}
	if a.Circuit.State != "closed" {
		s := "circuit " + strings.ReplaceAll(a.Circuit.State, "_", " ")
		if !a.Circuit.ResetAt.IsZero() {
			s += " until " + a.Circuit.ResetAt.UTC().Format(time.RFC3339)
		}
		notes = append(notes, s)
	}
	return otherAgent{a.Name, string(a.Readiness), strings.Join(notes, ", "), a.Spec.Capabilities, clip(oneLine(a.Spec.Description), 120)}
}

const maxAgents = 50

var joinTool = define[joinInput, joined]("join", "Say that you are there", repeats,
	"Say that you are there and take work (or stop taking it: draining, offline). Tells who you are, who else is there, and what waits.",
	func(ctx context.Context, c *call, in joinInput) (answer, error) {
		me, err := c.Me(ctx)
		if err != nil {
			return answer{}, err
		}
		out := joined{You: me.Name, Agents: []otherAgent{}, Next: "wait for work with inbox"}
		if me.Agent != "" {
			if err := c.appear(ctx, me.Agent, in, &out); err != nil {
				return answer{}, err
			}
		} else {
			if in.says() {
				return answer{}, invalid("only an agent joins with something to say of itself; your token is of %s/%s", me.Role, me.Name)
			}
			out.Next = "inbox has what is to be approved, status all tasks and open tickets; decide sees to them"
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
				out.Agents = append(out.Agents, otherAgentOf(a, time.Now()))
			}
		}
		return answer{text: out.String(), data: out}, nil
	})

func (in joinInput) says() bool {
	return in.Readiness != "" || in.Description != "" || len(in.Channels) > 0
}

// introduce registers an agent that is not, and takes down what it says of itself.
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
	for _, channel := range in.Channels {
		if _, err := c.Subscribe(ctx, channel, client.SubscriptionInput{}); err != nil {
			return a, err
		}
	}
	return a, nil
}

// humanKind is the kind of agents that are people.
const humanKind = "human"

// appear says that an agent is ready, and counts what waits for it.
func (c *call) appear(ctx context.Context, name string, in joinInput, out *joined) error {
	ctx = client.WithKey(ctx, "") // it makes several changes, and a key is of one; all may be repeated freely
	a, err := c.introduce(ctx, name, in)
	if err != nil {
		return err
	}
	wanted := client.Readiness(in.Readiness)
	if wanted == "" {
		wanted = client.Ready
	}
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
	case out.Waiting == 0 && a.Spec.Kind == humanKind:
		out.Next = "status shows what your desks are asked, which is not in the inbox: decide sees to it. inbox waits for what is for you by name"
	case out.Waiting > 0:
		out.Next = "inbox shows what waits, and what to do about it"
	case out.Holding > 0:
		out.Next = "status shows the tasks you hold: go on with them"
	case a.Readiness != client.Ready:
		out.Next = "you are offered nothing new; join with readiness=ready changes that"
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
			b.WriteString(" - " + n.Description)
		}
		b.WriteString("\n")
	}
	if j.More > 0 {
		fmt.Fprintf(&b, "and %d more\n", j.More)
	}
	return b.String() + "Next: " + j.Next
}
