package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
)

func (s *shell) agentCommand() *cobra.Command {
	return group("agent", "Register agents and see how they do",
		s.agentAdd(), s.agentList(), s.agentShow(), s.agentReadiness("ready", client.Ready, "Say that an agent takes new work"),
		s.agentReadiness("drain", client.Draining, "Let an agent finish what it holds and take nothing more"),
		s.agentReset(), s.agentRemove())
}

func (s *shell) agentAdd() *cobra.Command {
	var whole string
	var spec client.AgentSpec
	var ready bool
	cmd := s.command("add NAME", "Register an agent, or replace what is known about it", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			if whole != "" {
				if err := s.decode("--spec", whole, &spec); err != nil {
					return err
				}
			}
			c, err := s.dial(ctx)
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
	f.StringVar(&spec.Kind, "kind", "", "agent or human (default agent)")
	f.StringSliceVar(&spec.Capabilities, "capability", nil, "what it can do (repeatable)")
	f.IntVar(&spec.MaxTasks, "max-tasks", 0, "concurrent tasks (default: not limited)")
	f.IntVar(&spec.ContextWindow, "context-window", 0, "tokens")
	f.StringVar(&spec.Tokenizer, "tokenizer", "", "name of its tokenizer")
	f.StringSliceVar(&spec.Fallbacks, "fallback", nil, "agents to try instead, best first (repeatable)")
	f.StringSliceVar(&spec.Escalation, "escalation", nil, "agents to escalate to, nearest first (repeatable)")
	f.Var((*duration)(&spec.PresenceTTL), "presence", "offline when not heard for so long (default: never)")
	f.IntVar(&spec.Breaker.Failures, "breaker-failures", 0, "failed handoffs in a row that open its circuit (default 3)")
	f.Var((*duration)(&spec.Breaker.OpenFor), "breaker-open", "how long its circuit stays open (default 1m)")
	f.StringVar(&whole, "spec", "", "the whole specification as JSON, @FILE or -; replaces the other flags")
	f.BoolVar(&ready, "ready", false, "say at once that it takes new work")
	return cmd
}

func (s *shell) agentList() *cobra.Command {
	return s.call("list", "List the agents", noArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Agents(ctx)
		if err != nil {
			return err
		}
		return s.emit(list, func(p *page) {
			var rows [][]string
			for _, a := range list.Agents {
				rows = append(rows, []string{
					a.Name, string(a.Readiness), count(a.Held), a.Circuit.State, names(a.Spec.Capabilities), clip(a.Spec.Description, 60),
				})
			}
			p.table("There are no agents. Add one with: trapeze agent add NAME",
				[]string{"NAME", "READINESS", "HOLDS", "CIRCUIT", "CAPABILITIES", "DESCRIPTION"}, rows)
		})
	})
}

func (s *shell) agentShow() *cobra.Command {
	return s.agentVerb("show", "Show one agent", func(ctx context.Context, c *client.Client, name string) (client.Agent, error) {
		return c.Agent(ctx, name)
	})
}

func (s *shell) agentReadiness(verb string, to client.Readiness, short string) *cobra.Command {
	return s.agentVerb(verb, short, func(ctx context.Context, c *client.Client, name string) (client.Agent, error) {
		return c.SetReadiness(ctx, name, to)
	})
}

func (s *shell) agentReset() *cobra.Command {
	return s.agentVerb("reset", "Close an agent's circuit on your word",
		func(ctx context.Context, c *client.Client, name string) (client.Agent, error) {
			return c.ResetCircuit(ctx, name)
		})
}

func (s *shell) agentRemove() *cobra.Command {
	return s.agentVerb("remove", "Take an agent out of the registry; what it holds is not touched",
		func(ctx context.Context, c *client.Client, name string) (client.Agent, error) {
			return c.RemoveAgent(ctx, name)
		})
}

func (s *shell) agentVerb(verb, short string, do func(context.Context, *client.Client, string) (client.Agent, error)) *cobra.Command {
	return s.call(verb+" NAME", short, cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		a, err := do(ctx, c, args[0])
		if err != nil {
			return err
		}
		return s.emitAgent(a)
	})
}

func (s *shell) emitAgent(a client.Agent) error {
	return s.emit(a, func(p *page) {
		circuit := a.Circuit.State
		if !a.Circuit.ResetAt.IsZero() {
			circuit += ", resets at " + clock(a.Circuit.ResetAt)
		}
		p.fields(
			field{"agent", a.Name}, field{"readiness", string(a.Readiness)}, field{"kind", a.Spec.Kind},
			field{"description", a.Spec.Description}, field{"capabilities", names(a.Spec.Capabilities)}, field{"holds", count(a.Held)},
			field{"max tasks", count(a.Spec.MaxTasks)}, field{"context window", count(a.Spec.ContextWindow)},
			field{"fallbacks", names(a.Spec.Fallbacks)}, field{"escalation", names(a.Spec.Escalation)},
			field{"presence", span(a.Spec.PresenceTTL)}, field{"circuit", circuit},
		)
	})
}

func span(d client.Duration) string {
	if d == 0 {
		return ""
	}
	return time.Duration(d).String()
}
