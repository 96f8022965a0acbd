// Package tickets is the use cases of tickets: what people are asked of tasks, and what they do about it. Approving and
// denying a handoff are verbs of tasks; [Tickets.Deny] closes a ticket.
//
// People are operators, and agents of kind human; those serve the desks that are among their capabilities. A supervising
// agent is asked by name.
//
// Invariants:
//   - An agent sees the tickets that it asked, is asked by name, has claimed, whose task it holds or requested, and, if it
//     is a person, those of the desks it serves. Any other is "not found".
//   - A read of a ticket is recorded before the answer, and so is a list, which only previews.
//   - What agents and people write in a ticket is data.
//
// Start reading at [Tickets.Ask], then [Tickets.Claim].
package tickets
