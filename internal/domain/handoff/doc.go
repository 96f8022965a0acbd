// Package handoff is the rules of tasks and of the handoffs inside them. It is pure: no I/O, no clock, no randomness.
// Time, jitter and the state of the receivers come with the command.
//
//	Decide(task, command, now) -> events, or a *refusal.Error
//
// Package task folds the events into the task.
//
// Invariants, each proved by random stories (invariant_test.go), which are themselves proved by planted bugs:
//
//  1. At most one owner. Only the owner, with the current epoch, may progress, hand off or finish a task.
//  2. At most one transfer in flight. A fan-out or a delegation makes child tasks, and the parent waits.
//  3. Ownership moves only at handoff-complete (accepted and confirmed). Until then the source has it.
//  4. Hops, handoffs, escalations, path cycles, budgets and all tasks below a task, in all generations, are bounded by its limits (family_test.go).
//  5. Constraints only tighten.
//  6. Every failure ends at an owner, a ticket or the dead-letter queue, and every ticket has a time limit.
//  7. A decision is all its events or none.
//
// Where to change what:
//   - offer.go: what follows an offer that was rejected, expired or not answered: the same receiver again, the next one, the source, or the dead letters (pauses: event/backoff.go)
//   - tick.go: what a clock does when it is due. When it is due: task/clock.go; how long it runs by default: event/timeout.go; when people are reminded: task/ticket.go
//   - send.go: what a handoff may ask for, how often an offer is made again by default, who is screened out. Who the candidates are: packages routing and usecase/routes
//   - recover.go: what happens when the owner is lost or makes no progress; its successors are chosen in usecase/handoffs/recovery.go
//   - end_child.go: when a parent stops waiting for its children; spawn.go: what a child inherits
//   - decide.go: who may act on a task, and as what; ticket.go: who may handle a ticket, and when two principals count as one person; approve.go: who approves
//   - create.go: what a task may be given, such as a deadline and tags, which are given then alone; a new field begins in [event.Created] (event/event_task.go)
//   - send.go makes the first offer of a handoff, and task/wait.go says what it waits for
//
// Each command has a file of its name. Those of tickets are ask.go, answer.go, claim.go, release.go, deny_ticket.go and withdraw_ticket.go;
// their events are in event/event_ticket.go, and what people see of them in ticketverb/verb.go. Offers that the first receiver gets are in join_claim.go. Start reading at [Decide], then send.go and accept.go (the handshake). The stories
// under testdata read as the specification, and testdata/matrix.md shows every state with every command.
package handoff
