package agent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Command is the command group trapeze agent.
func Command(s *shell.Shell) *cobra.Command {
	return shell.Group("agent", "Register agents, and manage their readiness",
		agentAdd(s), agentList(s), agentShow(s), agentReadiness(s, "ready", client.Ready, "Let an agent receive new offers"),
		agentReadiness(s, "busy", client.Busy, "Offer an agent nothing new until it is ready again"),
		agentReadiness(s, "drain", client.Draining, "Let an agent finish its tasks, and offer it nothing new"),
		agentReadiness(s, "offline", client.Offline, "Mark an agent as away"),
		agentShed(s), agentStuck(s), agentReset(s), agentRemove(s))
}

func agentAdd(s *shell.Shell) *cobra.Command {
	var whole string
	var spec client.AgentSpec
	var ready bool
	var cmd *cobra.Command
	cmd = s.Command("add NAME", "Register an agent, or change its specification", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			if whole != "" {
				if err := s.Decode("--spec", whole, &spec); err != nil {
					return err
				}
			}
			c, err := dialToAdd(ctx, s, args[0])
			if err != nil {
				return err
			}
			if whole == "" {
				had, err := c.Agent(ctx, args[0])
				if err == nil {
					change(cmd.Flags(), &spec, had.Spec)
				} else if !errors.Is(err, client.NotFound) {
					return err
				}
			}
			a, err := c.RegisterAgent(ctx, args[0], spec)
			if err == nil {
				s.RenewAgent(ctx, args[0])
			}
			if err == nil && ready {
				a, err = c.SetReadiness(client.WithKey(ctx, ""), args[0], client.Ready) // a second change: it needs another key
			}
			return emitAgent(s, a, err)
		})
	cmd.Long = "Register an agent, or change the specification of one that is there: what no flag names stays as it is. --spec replaces the whole specification."
	f := cmd.Flags()
	f.StringVar(&spec.Description, "description", "", "what it is good at")
	shell.Choice(f, &spec.Kind, "kind", "", "%s, a person who serves the desks named by --capability (default agent)", client.AgentKinds())
	f.StringSliceVar(&spec.Capabilities, "capability", nil, "capability, such as go or billing (repeatable)")
	f.IntVar(&spec.MaxTasks, "max-tasks", 0, "maximum number of concurrent tasks (default: not limited)")
	f.IntVar(&spec.ContextWindow, "context-window", 0, "size of its context window, in tokens")
	f.StringVar(&spec.Tokenizer, "tokenizer", "", "name of its tokenizer")
	f.Var((*reachFlag)(&spec.Reach), "reach", "how offers reach it: pull, the default; the server refuses webhook=URL and a2a=URL, by which nothing is delivered yet")
	f.Int64Var(&spec.Hints.Cost, "cost", 0, "usual cost of a task, in millionths of the currency")
	f.Var((*shell.Duration)(&spec.Hints.Latency), "latency", "usual duration of a task")
	f.StringSliceVar(&spec.Fallbacks, "fallback", nil, "agents to offer tasks to instead, best first (repeatable)")
	f.StringSliceVar(&spec.Escalation, "escalation", nil, "agents to escalate to, nearest first; the operators come last (repeatable)")
	f.Var((*shell.Duration)(&spec.PresenceTTL), "presence", "mark it offline after this long without a sign of life (default: 5m once it connects: over MCP, with trapeze work, or waiting for its inbox; never before)")
	f.IntVar(&spec.Breaker.Failures, "breaker-failures", 0, "number of consecutive failed handoffs that opens its circuit (default 3)")
	f.Var((*shell.Duration)(&spec.Breaker.OpenFor), "breaker-open", "how long its circuit stays open (default 1m)")
	f.StringVar(&whole, "spec", "", "whole specification (JSON, @FILE or -), instead of the other flags")
	f.BoolVar(&ready, "ready", false, "mark it ready at once")
	return cmd
}

// dialToAdd makes a client that can register an agent, which the command may act as: before it is there, and after it was removed, the caller does.
func dialToAdd(ctx context.Context, s *shell.Shell, name string) (*client.Client, error) {
	c, err := s.Dial(ctx)
	if s.Chosen() != event.Bare(name) {
		return c, err
	}
	if err == nil {
		_, err = c.Me(ctx)
	}
	if errors.Is(err, client.NotFound) || errors.Is(err, client.Unauthenticated) {
		return s.DialAsCaller(ctx)
	}
	return c, err
}

// change sets in the specification that an agent has what flags give.
func change(f *pflag.FlagSet, spec *client.AgentSpec, had client.AgentSpec) {
	given := *spec
	*spec = had
	for name, set := range map[string]func(){
		"description":      func() { spec.Description = given.Description },
		"kind":             func() { spec.Kind = given.Kind },
		"capability":       func() { spec.Capabilities = given.Capabilities },
		"max-tasks":        func() { spec.MaxTasks = given.MaxTasks },
		"context-window":   func() { spec.ContextWindow = given.ContextWindow },
		"tokenizer":        func() { spec.Tokenizer = given.Tokenizer },
		"reach":            func() { spec.Reach = given.Reach },
		"cost":             func() { spec.Hints.Cost = given.Hints.Cost },
		"latency":          func() { spec.Hints.Latency = given.Hints.Latency },
		"fallback":         func() { spec.Fallbacks = given.Fallbacks },
		"escalation":       func() { spec.Escalation = given.Escalation },
		"presence":         func() { spec.PresenceTTL = given.PresenceTTL },
		"breaker-failures": func() { spec.Breaker.Failures = given.Breaker.Failures },
		"breaker-open":     func() { spec.Breaker.OpenFor = given.Breaker.OpenFor },
	} {
		if f.Changed(name) {
			set()
		}
	}
}

func agentList(s *shell.Shell) *cobra.Command {
	return s.Call("list", "List the agents", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Agents(ctx)
		return s.Answer(list, err, func(p *shell.Page) {
			shell.List(p, "There are no agents. Add one with: trapeze agent add NAME", []string{"NAME", "KIND", "READINESS", "SEEN", "HOLDS", "CIRCUIT", "CAPABILITIES", "DESCRIPTION"}, list.Agents, func(a client.Agent) []string {
				return []string{
					a.Name, a.Spec.Kind, string(a.Readiness), shell.Seen(a), holds(a), circuitOf(a), shell.Names(a.Spec.Capabilities), shell.Clip(a.Spec.Description, 60),
				}
			})
		})
	})
}

func agentShow(s *shell.Shell) *cobra.Command {
	return agentVerb(s, "show", "Show one agent", func(ctx context.Context, c *client.Client, name string) (client.Agent, error) {
		return c.Agent(ctx, name)
	})
}

func agentReadiness(s *shell.Shell, verb string, to client.Readiness, short string) *cobra.Command {
	cmd := s.Call(verb+" [NAME]", short, cobra.MaximumNArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		if len(args) == 0 {
			me, err := c.Me(ctx)
			if err != nil {
				return err
			}
			if me.Role != client.RoleAgent {
				return s.NeedAgent(ctx, c, "name the agent, or act as one with --agent NAME")
			}
			args = []string{me.Name}
		}
		a, err := c.SetReadiness(ctx, args[0], to)
		return emitAgent(s, a, err)
	})
	cmd.Long = short + ". Without NAME it is the agent that you act as.\n\n" + effects[to]
	return cmd
}

const takesNothing = `Its tasks and offers stay with it. A handoff goes to another candidate, and is refused if there is none. If an operator says so, only an
operator makes the agent ready again.`

// effects says what each readiness does.
var effects = map[client.Readiness]string{
	client.Ready:    `An agent that an operator made busy, draining or offline is made ready by an operator alone.`,
	client.Busy:     takesNothing,
	client.Draining: takesNothing,
	client.Offline: `If the agent itself says so, or is not heard of, offers wait for its return where nobody else can take them. If an operator says so, it is offered
nothing until an operator makes it ready again.`,
}

func agentReset(s *shell.Shell) *cobra.Command {
	return agentVerb(s, "reset", "Close an agent's circuit breaker, for all senders",
		func(ctx context.Context, c *client.Client, name string) (client.Agent, error) {
			return c.ResetCircuit(ctx, name)
		})
}

func agentRemove(s *shell.Shell) *cobra.Command {
	return agentVerb(s, "remove", "Remove an agent; its tasks stay with it", func(ctx context.Context, c *client.Client, name string) (client.Agent, error) {
		return c.RemoveAgent(ctx, name)
	})
}

func agentShed(s *shell.Shell) *cobra.Command {
	var in client.ShedInput
	cmd := relief(s, "shed NAME", "Move an agent's unaccepted offers to other agents",
		func(ctx context.Context, c *client.Client, name string) (client.Relief, error) {
			return c.Shed(ctx, name, in)
		})
	cmd.Long = `Move the offers that NAME has not accepted yet to ready agents with the same capabilities and free capacity: the lowest priority
and the oldest first, at most 100 at a time. Accepted tasks stay with it.`
	cmd.Flags().IntVar(&in.Keep, "keep", 0, "number of offers to keep, those of the highest priority (default 0)")
	return cmd
}

func agentStuck(s *shell.Shell) *cobra.Command {
	var in client.StuckAgentInput
	cmd := relief(s, "stuck NAME", "Report that an agent is not making progress, and offer its tasks to others",
		func(ctx context.Context, c *client.Client, name string) (client.Relief, error) {
			return c.StuckAgent(ctx, name, in)
		})
	cmd.Long = `Do what trapeze task stuck does, for the oldest 100 tasks of NAME that you may report.`
	cmd.Flags().StringVar(&in.Detail, "detail", "", "what shows that it is stuck")
	return cmd
}

// relief makes a command that moves work away from an agent.
func relief(s *shell.Shell, use, short string, do func(context.Context, *client.Client, string) (client.Relief, error)) *cobra.Command {
	return s.Call(use, short, cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		r, err := do(ctx, c, args[0])
		return s.Answer(r, err, func(p *shell.Page) { p.Relief(r) })
	})
}

func agentVerb(s *shell.Shell, verb, short string, do func(context.Context, *client.Client, string) (client.Agent, error)) *cobra.Command {
	return s.Call(verb+" NAME", short, cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		a, err := do(ctx, c, args[0])
		return emitAgent(s, a, err)
	})
}

func emitAgent(s *shell.Shell, a client.Agent, err error) error {
	return s.Answer(a, err, func(p *shell.Page) {
		p.Fields([]shell.Field{
			{"agent", a.Name},
			{"readiness", readinessOf(a)},
			{"seen", shell.Seen(a)},
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
		for _, w := range a.Warnings {
			p.Line("warning: %s", w)
		}
	})
}

// circuitOf describes the states of an agent's circuit breakers, and until when they last: the one for all senders, and those that are
// open for one sender alone.
func circuitOf(a client.Agent) string {
	list := []string{stateOf(a.Circuit)}
	for _, p := range a.SenderCircuits {
		list = append(list, "for "+p.Sender+" "+stateOf(p.Circuit))
	}
	return strings.Join(list, "; ")
}

func stateOf(c client.Circuit) string {
	if c.ResetAt.IsZero() {
		return c.State
	}
	return c.State + ", resets at " + shell.Clock(c.ResetAt)
}

// readinessOf describes an agent's readiness, and whether the agent may change it.
func readinessOf(a client.Agent) string {
	if a.OffDuty {
		return string(a.Readiness) + " (off duty: only an operator makes it ready again)"
	}
	return string(a.Readiness)
}

// holds is the number of tasks that an agent owns, and its maximum.
func holds(a client.Agent) string {
	if a.Spec.MaxTasks == 0 {
		return strconv.Itoa(a.Held)
	}
	return fmt.Sprintf("%d/%d", a.Held, a.Spec.MaxTasks)
}

// reachFlag is a list of ways to reach an agent, as "pull", "webhook=URL" or "a2a=URL".
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
