// Package tickets has the use cases of tickets: what people are asked of tasks, and what they do about it. Approving and
// denying a handoff are verbs of tasks; [Tickets.Deny] closes a ticket.
//
// People are operators, and agents of kind human; those serve the desks that are among their capabilities. A supervising
// agent is asked by name.
//
// Invariants:
//   - An agent sees the tickets that it opened, those that ask it by name, those that it has claimed, those of tasks that it owns or requested, and, if it
//     is a person, those of the desks it serves. Any other is "not found".
//   - A read of a ticket is recorded before the answer, and so is a list, which previews, or gives at most 100 tickets whole.
//   - What agents and people write in a ticket is data.
//
// Where to change what:
//   - list.go: what a list previews; the turns that askers take on its first page are in view/ticket_page.go
//   - show.go: how long a call may wait for an answer; who may see a ticket is decided in desk/reader.go
//   - at_client.go: which tickets a person may answer at the client of an agent
//   - claim.go: as which agent a person takes a task over (how long a claim is kept: handoff/claim.go)
//   - ask.go: who can be asked by name
//   - Deadlines, reminders and the next desk are rules: event/timeout.go, task/ticket.go and handoff/tick.go. Messages about tickets are decided in
//     courier/notify.go and written in notify/ticket.go.
//   - verbs.go: which verbs a ticket in a list has for its reader; the verbs have files of their names
//
// Start reading at [Tickets.Ask], then [Tickets.Claim].
package tickets
