// Package handoff has the rules of tasks and of the handoffs inside them. It is pure: no I/O, no clock, no randomness.
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
//  5. Handoffs, owners and children only tighten constraints. Only [Lift] removes one.
//  6. Every failure ends at an owner, a ticket or the dead letters, and every ticket has a time limit.
//  7. A decision is all its events or none.
//
// Where to change what:
//   - offer.go: what follows an offer that its receiver did not answer (the same receiver again after a pause, package event/backoff, then the next one), and one that was rejected or expired (the next one; if none is left, the source or the dead letters)
//   - join_claim.go: which agents join an open claim: an offer to several, of whom the first to accept gets the task, and one that rejects it is not asked again
//   - tick.go: what a clock does when it is due, such as that a handoff that is not confirmed returns to its source. When it is due: task/clock.go; how long it runs by default: event/timeout.go; when people are reminded: task/ticket.go
//   - send.go: the first offer, which settings of a handoff are refused (of a delegation or fan-out also in spawn.go), how often an offer is made again by default, which agents a new handoff is never offered to, such as the owner (reasons: task/path.go), and what is kept of a send that a limit stops (task/stopped.go). Who the candidates are is decided in routing/route.go and usecase/routes/plan.go
//   - recover.go: what happens when the owner is lost or makes no progress; its successors are chosen in usecase/handoffs/recovery.go
//   - task/wait.go: how long a handoff waits for a receiver that is full, or whose circuit is open; event/limit.go, task/limit.go: the limits of a task. end_child.go: when a parent has enough results (all, a quorum, the first), or cannot get them any more, and stops waiting, and which open children are cancelled then; spawn.go: which delegations and fan-outs are refused, and what a child inherits
//   - progress.go: what happens when a budget is overspent (the task goes to the dead letters; report_gap.go does the same); send.go refuses a handoff once it is spent. What is left of it: task/task.go
//   - heartbeat.go, progress.go, report_gap.go and send.go renew the lease of an owner; task/clock.go: until when it then runs
//   - who may act on a task, and as what, and which offer an agent may answer, is in package task/authority; ticket.go: who may handle a ticket, and when two principals count as one person; approve.go: who approves; an approver is named in send.go
//   - claim.go: how long a question or an approval is kept for the person who claimed it (no clock ends that: ticket.go compares it when somebody acts)
//   - replay.go: what an operator can change with a replay (route, deadline, budget), and the note, which is also in the detail of the new handoff (handoffs/again.go); discard.go: the reason for a discard; annotate.go: a note on any entry; which counts begin again with it: task/fold.go
//   - create.go: what a task is given when it is created and never later, such as a deadline and tags; a new field begins in [event.Created] (event/event_task.go)
//
// Each command has a file of its name. takeover.go is for agents that ask for a task, approve_takeover.go and deny_takeover.go for the answer; such a request has no clock. A takeover by an operator is a Withdraw and a Send, which
// usecase/tasks/takeover.go puts together. Those of tickets are ask.go, answer.go, claim.go, release.go, deny_ticket.go and withdraw_ticket.go;
// their events are in event/event_ticket.go, what a question and an answer must be like is checked in event/ticket.go, and what people see of them in ticketverb/verb.go.
// An approval is a ticket too: its events (ApprovalAsked, Approved) are in event/event_handoff.go. Start reading at [Decide], then send.go and accept.go (the handshake). The stories
// under testdata read as the specification, and testdata/matrix.md shows every state with every command.
package handoff
