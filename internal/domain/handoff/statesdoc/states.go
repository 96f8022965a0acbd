package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

const generated = "<!-- Written by go generate ./internal/domain/handoff. Do not edit. -->\n\n"

// step is an edge of any of the machines.
type step struct{ from, event, to, when string }

// states is the page of the five machines.
func states() string {
	var b strings.Builder
	b.WriteString("# States\n\n" + generated +
		"Five machines, each with one table. No other transition is possible: the rules consult the tables, and tests walk every state " +
		"with every command. What each command does in each state, by which principal, is in " +
		"[matrix.md](../internal/domain/handoff/testdata/matrix.md); what each event says, in [events.md](events.md); the stories in " +
		"[internal/domain/handoff/testdata](../internal/domain/handoff/testdata) tell it by example.\n")
	var tasks []step
	for _, e := range task.TaskTable {
		tasks = append(tasks, step{string(e.From), e.Event, string(e.To), e.When})
	}
	machine(&b, "Task", "A task is one piece of work. While it is `pending` nobody owns it and its requester stands as its source; "+
		"`parked` is the dead-letter queue. A child that is `parked` has not ended: it can be replayed, so a parent that needs it "+
		"stays `waiting`, until the child is replayed and ends, is cancelled or discarded, or the parent's own wait is over. A parent that "+
		"can have what it waits for without that child does not wait for it.", tasks, finals(event.States.Values()))
	var handoffs []step
	for _, e := range task.HandoffTable {
		handoffs = append(handoffs, step{string(e.From), e.Event, string(e.To), e.When})
	}
	machine(&b, "Handoff", "A handoff is one attempt to move a task; a retry or a fallback is a new offer of the same handoff. "+
		"`task-parked` and `task-cancelled` end whatever is under way.", handoffs, finals(event.Stages.Values()))
	var tickets []step
	for _, e := range task.TicketTable {
		tickets = append(tickets, step{string(e.From), e.Event, string(e.To), e.When})
	}
	machine(&b, "Ticket", "A ticket is what people are asked of a task: to approve a handoff, to answer its owner's question, or to take it over. "+
		"The person who claims a takeover owns the task until they end it, hand it off, or release the ticket.", tickets, []string{string(event.TicketStateClosed)})
	circuit(&b)
	duty(&b)
	return b.String()
}

// finals are the states in which nothing happens any more.
func finals[S interface {
	~string
	Final() bool
}](all []S) []string {
	var out []string
	for _, s := range all {
		if s.Final() {
			out = append(out, string(s))
		}
	}
	return out
}

func machine(b *strings.Builder, name, text string, steps []step, final []string) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", name, text)
	diagram(b, steps, final)
	b.WriteString("\n| from | event | to | when |\n|---|---|---|---|\n")
	for _, s := range steps {
		fmt.Fprintf(b, "| %s | `%s` | %s | %s |\n", or(s.from, "(none)"), s.event, s.to, s.when)
	}
}

// diagram draws the steps, those with the same ends as one arrow.
func diagram(b *strings.Builder, steps []step, final []string) {
	type ends struct{ from, to string }
	labels := map[ends][]string{}
	var order []ends
	for _, s := range steps {
		e := ends{s.from, s.to}
		if labels[e] == nil {
			order = append(order, e)
		}
		if !slices.Contains(labels[e], s.event) {
			labels[e] = append(labels[e], s.event)
		}
	}
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	for _, e := range order {
		fmt.Fprintf(b, "    %s --> %s: %s\n", or(e.from, "[*]"), e.to, strings.Join(labels[e], ", "))
	}
	for _, f := range final {
		fmt.Fprintf(b, "    %s --> [*]\n", f)
	}
	b.WriteString("```\n")
}

// circuit is the page's part on the breaker, whose table also says what is ignored.
func circuit(b *strings.Builder) {
	b.WriteString("\n## Circuit breaker\n\nOne for each agent. Time alone moves it from open to half-open, and a probe that does not report lapses.\n\n" +
		"```mermaid\nstateDiagram-v2\n")
	var names []agent.CircuitState
	for _, r := range agent.CircuitTable {
		if !slices.Contains(names, r.In) {
			fmt.Fprintf(b, "    state %q as s%d\n", r.In, len(names))
			names = append(names, r.In)
		}
	}
	id := func(s agent.CircuitState) string { return fmt.Sprintf("s%d", slices.Index(names, s)) }
	fmt.Fprintf(b, "    [*] --> %s\n", id(agent.Clean))
	for _, r := range agent.CircuitTable {
		if r.In != r.Become {
			fmt.Fprintf(b, "    %s --> %s: %s\n", id(r.In), id(r.Become), r.On)
		}
	}
	fmt.Fprintf(b, "    %s --> %s: the pause is over\n    %s --> %s: the probe lapses\n```\n", id(agent.Broken), id(agent.Waiting),
		id(agent.Probing), id(agent.Waiting))
	b.WriteString("\n| in | on | does | becomes |\n|---|---|---|---|\n")
	for _, r := range agent.CircuitTable {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", r.In, r.On, r.Do, r.Become)
	}
}

// duty is the page's part on whose word makes an agent ready.
func duty(b *strings.Builder) {
	b.WriteString("\n## Duty\n\nOne for each agent: whose word on its readiness is taken. An agent begins on duty; heartbeats that stop " +
		"or return make it offline or bring it back as it was, and change no duty.\n\n| in | on | does | becomes |\n|---|---|---|---|\n")
	for _, r := range agent.DutyTable {
		does, becomes := "take", r.Become
		if !r.Taken {
			does, becomes = "refuse conflict", r.In
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", r.In, r.On, does, becomes)
	}
}

func or(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
