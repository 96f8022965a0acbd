// Package task is the state of a task: its owner, its handoff in flight, its limits, children and tickets. It is the fold
// of the task's events; package handoff decides what may happen next.
//
//	Fold(task, event) -> task
//
// Fold never refuses, because events have happened. A [Task] is immutable: Fold returns a new value and shares what did
// not change, so tasks may be cached and read from many goroutines.
//
// Invariants, proved with those of the rules by the random stories of package handoff:
//
//   - A task's state and its handoff's stage change only along the tables, [TaskTable] and [HandoffTable].
//   - At most one agent owns a task, and every change of owner raises the epoch.
//   - Folding the same events gives the same task, on every machine.
//
// Where to change what:
//   - clock.go: when each clock of a task is due, and in which states none runs (ended and parked): leases, progress, deadlines, offers, acknowledgments,
//     confirmations, tickets, waits for children. A new clock begins here; what it does is in handoff/tick.go, how long it runs in event/timeout.go
//   - wait.go: how long a handoff waits for a receiver that is full, or whose circuit is open, before its next offer. The pauses after an offer that nobody answers are in
//     package event/backoff; whether it is made again is decided in handoff/offer.go
//   - ticket.go: when people are reminded of a ticket, and how many answers a task keeps. Who may handle one is decided in handoff/ticket.go
//   - limit.go: when one more handoff is too many; path.go: which agent may own a task again, and when that is a loop. The default limits are in event/limit.go
//   - chain.go: what counts as one level of an escalation chain; which chain a task has is chosen in usecase/routes/chain.go
//   - take_up.go: what a task that comes back to its requester waits for, and whom it tells
//   - notice.go: which agents learn of the end or loss of a task that they did not cause, and in which words (of a dead letter: its cause and detail); usecase/taskstore/notice.go tells them at their next call
//   - visibility.go: who reads how much of a task and of its past
//   - tenure.go, cold.go: what an owner reads of the time before a cold handoff
//   - past.go: what the history in the next envelope tells of handoffs and child tasks; passage/dropped.go: how much it cannot tell for a bound
//   - constraint_rule.go: how the limits that several principals set on one constraint combine; which names a permission cannot have
//   - budget.go: that children get no more than is left of their parent's budget (how it is divided among them: event/budget.go), how many
//     further tasks each may create, and what a raise may be
//   - task.go: the fields of a task, and how many notes and former owners it keeps; unowned_hint.go: what a requester is told to do
//   - stopped.go: what is kept of a send that did not begin because of a limit
//   - child.go: what a parent keeps of a child; sender.go: on whose account a handoff is offered
//   - table.go: the states; fold.go, fold_handoff.go, fold_ticket.go: what each event does to them, such as which counts a replay sets back
//
// Start reading at table.go (every state and every way between them), then [Task], then [Fold].
package task
