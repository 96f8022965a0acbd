package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

const generated = "<!-- Written by go generate ./internal/domain/task. Do not edit. -->\n\n"

// states is the page of the five machines.
func states() string {
	var b strings.Builder
	b.WriteString("# States\n\n" + generated +
		"Five machines, each with one table. No other transition is possible: the rules consult the tables, and tests walk every state " +
		"with every command. What each command does in each state, by which principal, is in " +
		"[matrix.md](../internal/domain/handoff/testdata/matrix.md); what each event says, in [events.md](events.md); the stories in " +
		"[internal/domain/handoff/testdata](../internal/domain/handoff/testdata) tell it by example.\n")
	machine(&b, "Task", "A task is one piece of work. While it is `pending` nobody owns it and its requester stands as its source; "+
		"one that came back to an agent, or out of the dead letters, has a clock (`take_up_by`), and goes to the dead letters unless its requester starts, sends or cancels it. "+
		"A `parked` task is in the dead letters. A child that is `parked` has not ended: it can be replayed, so a parent that needs it "+
		"stays `waiting`, until the child is replayed and ends, is cancelled or discarded, or the parent's own wait is over. A parent that "+
		"can have what it waits for without that child does not wait for it.", task.TaskTable, finals(event.States.Values()))
	machine(&b, "Handoff", "A handoff is one attempt to move a task; a retry or a fallback is a new offer of the same handoff. "+
		"`task-parked` and `task-cancelled` end whatever is under way.", task.HandoffTable, finals(event.Stages.Values()))
	machine(&b, "Ticket", "A ticket is what people are asked of a task: to approve a handoff, to answer its owner's question, or to take it over. "+
		"The person who claims a takeover owns the task until they end it, hand it off, or release the ticket.", task.TicketTable, []event.TicketState{event.TicketStateClosed})
	circuit(&b)
	duty(&b)
	return b.String()
}

// finals are the states in which nothing happens any more.
func finals[S interface{ Final() bool }](all []S) []S {
	return slices.DeleteFunc(all, func(s S) bool { return !s.Final() })
}

func machine[S ~string](b *strings.Builder, name, text string, table []task.Edge[S], final []S) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", name, text)
	diagram(b, table, final)
	b.WriteString("\n| from | event | to | when |\n|---|---|---|---|\n")
	for _, e := range table {
		fmt.Fprintf(b, "| %s | `%s` | %s | %s |\n", cmp.Or(e.From, "(none)"), e.Event, e.To, e.When)
	}
}

// diagram draws the edges, those with the same ends as one arrow.
func diagram[S ~string](b *strings.Builder, table []task.Edge[S], final []S) {
	type ends struct{ from, to S }
	labels := map[ends][]string{}
	var order []ends
	for _, e := range table {
		between := ends{e.From, e.To}
		if labels[between] == nil {
			order = append(order, between)
		}
		if !slices.Contains(labels[between], e.Event) {
			labels[between] = append(labels[between], e.Event)
		}
	}
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	for _, e := range order {
		fmt.Fprintf(b, "    %s --> %s: %s\n", cmp.Or(e.from, "[*]"), e.to, strings.Join(labels[e], ", "))
	}
	for _, f := range final {
		fmt.Fprintf(b, "    %s --> [*]\n", f)
	}
	b.WriteString("```\n")
}

// circuit is the page's part on the breaker, whose table also says what is ignored.
func circuit(b *strings.Builder) {
	b.WriteString("\n## Circuit breaker\n\nTwo for each handoff: the receiver's shared one, and the one between its sender and the receiver. " +
		"Failures of one sender's handoffs open the latter; the shared one opens by those of at least two senders, or of delivery, and the senders " +
		"whose failures opened it may probe it one period after the others. An accepted offer ends failures in a row, but not those of tasks that the agent " +
		"lost: those count until it completes a task that it did not make itself, gives it up or hands it on. A circuit that an accepted probe closes is on trial until then: offers are made, and it is " +
		"shown as half-open. " +
		"Time alone moves a circuit from open to half-open, and a probe that does not report lapses.\n\n" +
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
