// Package desk gives use cases the desks of people: which of them a caller serves, which tickets it may see, which events of
// a task concern a ticket that it may see, and as which person an operator acts.
//
// Invariants:
//   - Who may see a ticket is decided here alone: for the list of tickets, for one ticket, for what is done with it and for the stream of events.
//   - To see a ticket gives nobody a part in its task.
//   - An operator acts as a person only where that person of the same name owns the task; the record names the operator as the actor.
//
// Start reading at [ReaderOf], then [Reader.Sees].
package desk
