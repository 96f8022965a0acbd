package extratool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type agentInput struct {
	Agent        string            `json:"agent" jsonschema:"its name; it may be you"`
	Action       string            `json:"action,omitempty" enum:"show,register,announce,shed,reset,remove" jsonschema:"default show. register: set what is given. announce: its readiness. shed: its offers to others. reset: close its circuit. All but show are for operators, or for yourself as far as you may"`
	Kind         string            `json:"kind,omitempty" values:"agent kinds" jsonschema:"with register, as what follows"`
	Description  string            `json:"description,omitempty"`
	Capabilities argument.List     `json:"capabilities,omitempty" jsonschema:"all of them"`
	MaxTasks     int               `json:"max_tasks,omitempty" jsonschema:"how many tasks it takes at once"`
	Window       int               `json:"context_window,omitempty" jsonschema:"in tokens"`
	Tokenizer    string            `json:"tokenizer,omitempty"`
	Fallbacks    argument.List     `json:"fallbacks,omitempty" jsonschema:"agents to try instead, best first"`
	Escalation   argument.List     `json:"escalation,omitempty" jsonschema:"agents to escalate to, nearest first"`
	Presence     argument.Duration `json:"presence_ttl,omitzero" jsonschema:"offline when not heard of for so long"`
	Readiness    client.Readiness  `json:"readiness,omitempty" jsonschema:"with announce"`
	Keep         int               `json:"keep,omitempty" jsonschema:"with shed: how many offers stay"`
	Key          string            `json:"key,omitempty"`
}

type agentAnswer struct {
	Agent    *show.OtherAgent `json:"agent,omitempty"`
	Spec     *specification   `json:"spec,omitempty"`
	Warnings []string         `json:"warnings,omitempty"`
	Moved    []string         `json:"moved,omitempty"`
	Kept     []string         `json:"kept,omitempty"`
}

// specification is what an agent is registered with besides its capabilities and its description.
type specification struct {
	Kind       string          `json:"kind,omitempty"`
	MaxTasks   int             `json:"max_tasks,omitempty"`
	Window     int             `json:"context_window,omitempty"`
	Tokenizer  string          `json:"tokenizer,omitempty"`
	Fallbacks  []string        `json:"fallbacks,omitempty"`
	Escalation []string        `json:"escalation,omitempty"`
	Presence   client.Duration `json:"presence_ttl,omitzero"`
	Reach      []string        `json:"reach,omitempty"`
}

func specificationOf(s client.AgentSpec) specification {
	out := specification{
		Kind: s.Kind, MaxTasks: s.MaxTasks, Window: s.ContextWindow, Tokenizer: s.Tokenizer, Fallbacks: s.Fallbacks, Escalation: s.Escalation, Presence: s.PresenceTTL,
	}
	for _, r := range s.Reach {
		out.Reach = append(out.Reach, r.Kind)
	}
	return out
}

// lines lists what the first line of the answer lacks, under the names of the arguments that set it.
func (s specification) lines() (text string) {
	presence := ""
	if s.Presence != 0 {
		presence = s.Presence.String()
	}
	for _, f := range [][2]string{
		{"kind", s.Kind},
		{"tokenizer", s.Tokenizer},
		{"fallbacks", strings.Join(s.Fallbacks, ", ")},
		{"escalation", strings.Join(s.Escalation, ", ")},
		{"presence_ttl", presence},
		{"reach", strings.Join(s.Reach, ", ")},
	} {
		if f[1] != "" {
			text += "\n" + f[0] + ": " + f[1]
		}
	}
	return text
}

var agentTool = tool.Define[agentInput, agentAnswer]("agent", "Show or manage an agent", tool.Destroys,
	"Show one agent. Register it with capabilities, context window and limits, set its readiness, move its offers to others, or remove it.",
	func(ctx context.Context, c *tool.Call, in agentInput) (tool.Answer, error) {
		if err := in.check(); err != nil {
			return tool.Answer{}, err
		}
		ctx = tool.Keyed(ctx, in.Key)
		var a client.Agent
		var err error
		switch in.Action {
		case "register":
			a, err = register(ctx, c, in)
		case "announce":
			a, err = c.SetReadiness(ctx, in.Agent, in.Readiness)
		case "shed":
			r, err := c.Shed(ctx, in.Agent, client.ShedInput{Keep: in.Keep})
			return relieved(r), err
		case "reset":
			a, err = c.ResetCircuit(ctx, in.Agent)
		case "remove":
			a, err = c.RemoveAgent(ctx, in.Agent)
			return tool.Answer{Text: in.Agent + " was removed." + warnings(a), Data: agentAnswer{Warnings: a.Warnings}}, err
		default:
			a, err = c.Agent(ctx, in.Agent)
		}
		if err != nil {
			return tool.Answer{}, err
		}
		me, err := c.Me(ctx)
		if err != nil {
			return tool.Answer{}, err
		}
		n, spec := show.OtherAgentOf(a, me.Now), specificationOf(a.Spec)
		return tool.Answer{Text: agentText(n, a) + spec.lines(), Data: agentAnswer{Agent: &n, Spec: &spec, Warnings: a.Warnings}}, nil
	})

// sets reports whether an argument of register was given.
func (in agentInput) sets() bool {
	return in.Kind+in.Description+in.Tokenizer != "" || len(in.Capabilities)+len(in.Fallbacks)+len(in.Escalation) > 0 || in.MaxTasks != 0 || in.Window != 0 || in.Presence != 0
}

// check refuses arguments that would have no effect.
func (in agentInput) check() error {
	switch {
	case in.sets() && in.Action != "register":
		return argument.Invalid("kind, description, capabilities, max_tasks, context_window, tokenizer, fallbacks, escalation and presence_ttl are for action=register: omit them")
	case (in.Action == "announce") != (in.Readiness != ""):
		return argument.Invalid("announce needs readiness, and readiness is for announce: give both or neither")
	case in.Keep != 0 && in.Action != "shed":
		return argument.Invalid("keep is for shed: omit it")
	}
	return nil
}

// register sets what was given, and leaves the rest as it is. A new agent needs nothing.
func register(ctx context.Context, c *tool.Call, in agentInput) (client.Agent, error) {
	a, err := c.Agent(ctx, in.Agent)
	switch {
	case err != nil && !errors.Is(err, client.NotFound):
		return a, err
	case err == nil && !in.sets(): // it has no effect
		return a, argument.Invalid("register needs what to set of an agent that is registered, such as capabilities or context_window")
	}
	s := a.Spec
	for _, f := range []struct {
		to   *string
		with string
	}{{&s.Kind, in.Kind}, {&s.Description, in.Description}, {&s.Tokenizer, in.Tokenizer}} {
		if f.with != "" {
			*f.to = f.with
		}
	}
	for _, f := range []struct {
		to   *[]string
		with []string
	}{{&s.Capabilities, in.Capabilities}, {&s.Fallbacks, in.Fallbacks}, {&s.Escalation, in.Escalation}} {
		if len(f.with) > 0 {
			*f.to = f.with
		}
	}
	for _, f := range []struct {
		to   *int
		with int
	}{{&s.MaxTasks, in.MaxTasks}, {&s.ContextWindow, in.Window}} {
		if f.with != 0 {
			*f.to = f.with
		}
	}
	if in.Presence != 0 {
		s.PresenceTTL = client.Duration(in.Presence)
	}
	return c.RegisterAgent(ctx, in.Agent, s)
}

func agentText(n show.OtherAgent, a client.Agent) string {
	text := fmt.Sprintf("%s (%s)", n.Name, strings.TrimSuffix(n.Readiness+", "+n.Notes, ", ")) // the notes say how many tasks it holds
	if len(n.Capabilities) > 0 {
		text += "; can: " + strings.Join(n.Capabilities, ", ")
	}
	if a.Spec.ContextWindow > 0 {
		text += fmt.Sprintf("; context window %d tokens", a.Spec.ContextWindow)
	}
	if n.Description != "" {
		text += " - " + show.Line(n.Description)
	}
	return text + warnings(a)
}

func warnings(a client.Agent) (text string) {
	for _, w := range a.Warnings {
		text += "\nWarning: " + show.Line(w)
	}
	return text
}

// relieved answers a move of offers to other agents.
func relieved(r client.Relief) tool.Answer {
	var out agentAnswer
	text := fmt.Sprintf("Offers of %s that went to others: %d.\n", r.Agent, len(r.Moved))
	for _, m := range r.Moved {
		out.Moved = append(out.Moved, m.Task)
		text += fmt.Sprintf("- %s is offered to %s\n", m.Task, strings.Join(m.To, ", "))
	}
	for _, k := range r.Kept {
		out.Kept = append(out.Kept, k.Task+": "+k.Why)
		text += fmt.Sprintf("- %s was not moved: %s\n", k.Task, show.Line(k.Why))
	}
	return tool.Answer{Text: text, Data: out}
}
