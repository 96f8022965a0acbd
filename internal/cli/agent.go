package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func (s *commands) agentCommand() *cobra.Command {
	return shell.Group("agent", "Register agents and see how they do",
		s.agentAdd(), s.agentList(), s.agentShow(), s.agentReadiness("ready", client.Ready, "Say that an agent takes new work"),
		s.agentReadiness("drain", client.Draining, "Let an agent finish what it holds and take nothing more"),
		s.agentShed(), s.agentStuck(), s.agentReset(), s.agentRemove())
}

func (s *commands) agentAdd() *cobra.Command {
	var whole string
	var spec client.AgentSpec
	var ready bool
	cmd := s.Command("add NAME", "Register an agent, or replace what is known about it", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			if whole != "" {
				if err := s.Decode("--spec", whole, &spec); err != nil {
					return err
				}
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			a, err := c.RegisterAgent(ctx, args[0], spec)
			if err == nil && ready {
				a, err = c.SetReadiness(client.WithKey(ctx, ""), args[0], client.Ready) // another change: a key of its own
			}
			if err != nil {
				return err
			}
			return s.emitAgent(a)
		})
	f := cmd.Flags()
	f.StringVar(&spec.Description, "description", "", "what it is good at")
	f.StringVar(&spec.Kind, "kind", "", "agent, or human: a person, who serves the desks that --capability names (default agent)")
	f.StringSliceVar(&spec.Capabilities, "capability", nil, "what it can do (repeatable)")
	f.IntVar(&spec.MaxTasks, "max-tasks", 0, "concurrent tasks (default: not limited)")
	f.IntVar(&spec.ContextWindow, "context-window", 0, "tokens")
	f.StringVar(&spec.Tokenizer, "tokenizer", "", "name of its tokenizer")
	f.Var((*reachFlag)(&spec.Reach), "reach", "how to reach it: pull, webhook=URL or a2a=URL (repeatable; default pull)")
	f.Int64Var(&spec.Hints.Cost, "cost", 0, "what a usual task costs, in millionths of the currency")
	f.Var((*shell.Duration)(&spec.Hints.Latency), "latency", "how long a usual task takes")
	f.StringSliceVar(&spec.Fallbacks, "fallback", nil, "agents to try instead, best first (repeatable)")
	f.StringSliceVar(&spec.Escalation, "escalation", nil, "agents to escalate to, nearest first; behind them are the operators (repeatable)")
	f.Var((*shell.Duration)(&spec.PresenceTTL), "presence", "offline when not heard for so long (default: never)")
	f.IntVar(&spec.Breaker.Failures, "breaker-failures", 0, "failed handoffs in a row that open its circuit (default 3)")
	f.Var((*shell.Duration)(&spec.Breaker.OpenFor), "breaker-open", "how long its circuit stays open (default 1m)")
	f.StringVar(&whole, "spec", "", "the whole specification as JSON, @FILE or -; replaces the other flags")
	f.BoolVar(&ready, "ready", false, "say at once that it takes new work")
	return cmd
}

func (s *commands) agentList() *cobra.Command {
	return s.Call("list", "List the agents", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Agents(ctx)
		if err != nil {
			return err
		}
		return s.Emit(list, func(p *shell.Page) {
			var rows [][]string
			for _, a := range list.Agents {
				rows = append(rows, []string{
					a.Name, a.Spec.Kind, string(a.Readiness), seen(a), holds(a), circuitOf(a), shell.Names(a.Spec.Capabilities), shell.Clip(a.Spec.Description, 60),
				})
			}
			p.Table("There are no agents. Add one with: trapeze agent add NAME",
				[]string{"NAME", "KIND", "READINESS", "SEEN", "HOLDS", "CIRCUIT", "CAPABILITIES", "DESCRIPTION"}, rows)
		})
	})
}

func (s *commands) agentShow() *cobra.Command {
	return s.agentVerb("show", "Show one agent", func(ctx context.Context, c *client.Client, name string) (client.Agent, error) {
		return c.Agent(ctx, name)
	})
}

func (s *commands) agentReadiness(verb string, to client.Readiness, short string) *cobra.Command {
	return s.agentVerb(verb, short, func(ctx context.Context, c *client.Client, name string) (client.Agent, error) {
		return c.SetReadiness(ctx, name, to)
	})
}

func (s *commands) agentReset() *cobra.Command {
	return s.agentVerb("reset", "Close an agent's circuit on your word",
		func(ctx context.Context, c *client.Client, name string) (client.Agent, error) {
			return c.ResetCircuit(ctx, name)
		})
}

func (s *commands) agentRemove() *cobra.Command {
	return s.agentVerb("remove", "Take an agent out of the registry; what it holds is not touched",
		func(ctx context.Context, c *client.Client, name string) (client.Agent, error) {
			return c.RemoveAgent(ctx, name)
		})
}

func (s *commands) agentShed() *cobra.Command {
	var in client.ShedInput
	cmd := s.relief("shed NAME", "Move offers that wait for an agent to others that have room",
		func(ctx context.Context, c *client.Client, name string) (client.Relief, error) {
			return c.Shed(ctx, name, in)
		})
	cmd.Long = `Move the offers that wait for NAME and that it has not accepted yet to ready agents that can do the same and have room: the
lowest priority and the oldest first, at most 100 at a time. What it has accepted stays with it.`
	cmd.Flags().IntVar(&in.Keep, "keep", 0, "how many stay: those of the highest priority (default: none)")
	return cmd
}

func (s *commands) agentStuck() *cobra.Command {
	var in client.StuckAgentInput
	cmd := s.relief("stuck NAME", "Say that an agent gets nowhere: others are asked to take over what it holds",
		func(ctx context.Context, c *client.Client, name string) (client.Relief, error) {
			return c.StuckAgent(ctx, name, in)
		})
	cmd.Long = `Say of all that NAME holds, and that you may say so about, what trapeze task stuck says of one task: the oldest 100 of those.`
	cmd.Flags().StringVar(&in.Detail, "detail", "", "how one can tell")
	return cmd
}

// relief is a command that moves work away from an agent.
func (s *commands) relief(use, short string, do func(context.Context, *client.Client, string) (client.Relief, error)) *cobra.Command {
	return s.Call(use, short, cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		r, err := do(ctx, c, args[0])
		if err != nil {
			return err
		}
		return s.Emit(r, func(p *shell.Page) { p.Relief(r) })
	})
}

func (s *commands) agentVerb(verb, short string, do func(context.Context, *client.Client, string) (client.Agent, error)) *cobra.Command {
	return s.Call(verb+" NAME", short, cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		a, err := do(ctx, c, args[0])
		if err != nil {
			return err
		}
		return s.emitAgent(a)
	})
}

func (s *commands) emitAgent(a client.Agent) error {
	return s.Emit(a, func(p *shell.Page) {
		p.Fields([]shell.Field{
			{"agent", a.Name},
			{"readiness", readinessOf(a)},
			{"seen", seen(a)},
			{"kind", a.Spec.Kind},
			{"description", a.Spec.Description},
			{"capabilities", shell.Names(a.Spec.Capabilities)},
			{"holds", shell.Number(a.Held)},
			{"max tasks", shell.Number(a.Spec.MaxTasks)},
			{"context window", shell.Number(a.Spec.ContextWindow)},
			{"tokenizer", a.Spec.Tokenizer},
			{"reach", reachFlag(a.Spec.Reach).String()},
			{"usual cost", shell.Number(a.Spec.Hints.Cost)},
			{"usual latency", shell.Span(a.Spec.Hints.Latency)},
			{"fallbacks", shell.Names(a.Spec.Fallbacks)},
			{"escalation", shell.Names(a.Spec.Escalation)},
			{"presence", shell.Span(a.Spec.PresenceTTL)},
			{"circuit", circuitOf(a)},
		})
	})
}

// seen is how long ago the server last heard of an agent, beside the agent's own word on its readiness.
func seen(a client.Agent) string {
	ago := time.Since(a.Seen).Truncate(time.Minute)
	switch {
	case a.Seen.IsZero():
		return "not since the server started"
	case ago <= 0:
		return "now"
	}
	return shell.Span(client.Duration(ago)) + " ago"
}

// circuitOf is how an agent's circuit stands, and until when.
func circuitOf(a client.Agent) string {
	if a.Circuit.ResetAt.IsZero() {
		return a.Circuit.State
	}
	return a.Circuit.State + ", resets at " + shell.Clock(a.Circuit.ResetAt)
}

// readinessOf is an agent's readiness, and whether its own word on it counts.
func readinessOf(a client.Agent) string {
	if a.OffDuty {
		return string(a.Readiness) + " (off duty: only an operator makes it ready again)"
	}
	return string(a.Readiness)
}

// holds is how many tasks an agent holds, and of how many.
func holds(a client.Agent) string {
	if a.Spec.MaxTasks == 0 {
		return strconv.Itoa(a.Held)
	}
	return fmt.Sprintf("%d/%d", a.Held, a.Spec.MaxTasks)
}

// reachFlag reads ways to reach an agent, as "pull", "webhook=URL" or "a2a=URL".
type reachFlag []client.Reach

// String implements [pflag.Value].
func (r reachFlag) String() string {
	list := make([]string, len(r))
	for i, w := range r {
		list[i] = w.Kind
		if w.URL != "" {
			list[i] += "=" + w.URL
		}
	}
	return strings.Join(list, ", ")
}

// Set implements [pflag.Value].
func (r *reachFlag) Set(s string) error {
	kind, url, _ := strings.Cut(s, "=")
	*r = append(*r, client.Reach{Kind: kind, URL: url})
	return nil
}

// Type implements [pflag.Value].
func (*reachFlag) Type() string { return "WAY" }
