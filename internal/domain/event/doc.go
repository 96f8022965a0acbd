// Package event has the events of a task, as the record holds them, and the types that they are made of.
//
// The events stand together: [Event] and the list of all in event.go, the types in event_task.go, event_handoff.go,
// event_children.go and event_ticket.go, each with its name in the record. Every other concept has a file of its name with
// its type, its limits and its checks: constraint.go, reason.go (why a task moves), rejection.go
// (why an offer is not taken; what a rejection must say beside that is checked in handoff/reject.go), ticket.go; timeout.go and limit.go have the defaults. closedset.go has the one mechanism of closed sets,
// and text.go, json.go, name.go and id.go check input that several concepts are made of.
//
// What may happen to a task is decided by package handoff; this package checks only that a value is well formed.
//
// Invariants:
//   - Closed sets refuse unknown values when they are decoded.
//   - The JSON of an event is frozen: optional fields may be added, nothing else changes. Any other change is a new version of the
//     event with a function that converts the old one.
//
// Where to change what:
//   - timeout.go: the clocks and their defaults; two have none: progress, and wait, which is how long a parent waits for its children (what then happens: handoff/tick.go)
//   - limit.go: the default and greatest limits of a task: hops, handoffs, visits, escalations, recoveries, descendants; how many children,
//     shares, takeover requests and repeated offers there may be
//   - package backoff: the pauses between repeated offers, and messages to people; handoff/send.go has how often an offer is repeated
//   - constraint_set.go: which ids a new constraint can have (ASCII letters, digits and - _ . :, and none that looks like another's), the range of its maximum,
//     and how many constraints agents may add and of which size
//   - budget.go: the amounts of a task's budget (tokens and cost that its agents report), and how what is left is divided among children; the token budget of a receiver's prompt is decided in usecase/envelopes/pack.go
//   - pack.go: what a sender may say about packing: strategy, budget, pins
//   - ticket.go: the lengths of questions, options and answers, how many options a question may have, that an answer must be one of them, and the name of the operators' desk
//   - state.go, stage.go, kind.go: the states of tasks, the stages and kinds of handoffs; priority.go: the priorities
//   - candidate.go: the part that a receiver has in a list of candidates; decision.go, advice.go: what routing by a policy or a language
//     model decided
//   - park.go: the causes for which a task goes to the dead letters: terms of the record; the detail, in words, is written by the rule that parks in package handoff, and what the requester is told by task/notice.go;
//     fanin.go: for which results a parent waits: all, a quorum, the first, none; parent.go, dependency.go: how a task depends on others; expectation.go: what a result must be like; deadline.go,
//     duration.go: the range of deadlines and durations
//   - sender.go: on whose account a task is offered
//   - result.go: the size of a result, and how the results of children become one
//   - text.go, json.go: the greatest sizes of texts and free JSON, and what is refused in them; name.go: which characters and how many bytes the names of agents, channels, capabilities, workspaces and principals have, and labels; how many tags a task has (a memory item: memory/validate.go), and permissions
//   - id.go: how the ids of tasks, of their parts and of memory items are made and read (of constraints: constraint_set.go; of facts and decisions: idform/point.go); agent_id.go: NAME~2, the identity of an agent that is registered under a name again
//   - event.go: the list of all events: a new one is added there, to one of event_task.go, event_handoff.go, event_children.go and event_ticket.go,
//     and to task/fold.go
//
// Start reading at [Event].
package event
