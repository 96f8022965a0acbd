package custody

import "github.com/trapezehq/trapeze/internal/fact"

//go:generate go run ../handoff/statesdoc -o ../../docs/states.md

// Edge is one way from a state of a task or a ticket, or from a stage of a handoff, to the next. Events that are not in the
// table leave the state alone.
type Edge[S ~string] struct {
	From  S
	Event string
	To    S
	When  string // which of two edges with the same From and Event; empty if there is one
}

// None is the state of a task, and the stage of a handoff, before its first event.
const None = ""

// TaskTable is every transition a task can make. No other is possible: Fold consults it, Decide is tested
// against it, and docs/states.md is generated from it.
var TaskTable = []Edge[fact.State]{
	{None, "task-created", fact.Pending, ""},
	{fact.Pending, "task-started", fact.Executing, ""},
	{fact.Pending, "handoff-request", fact.HandingOff, ""},
	{fact.Pending, "children-spawned", fact.Waiting, "fan-in is awaited"},
	{fact.Pending, "children-spawned", fact.Pending, "fan-in is none"},
	{fact.Executing, "handoff-request", fact.HandingOff, ""},
	{fact.Executing, "children-spawned", fact.Waiting, "fan-in is awaited"},
	{fact.Executing, "children-spawned", fact.Executing, "fan-in is none"},
	{fact.Executing, "task-completed", fact.Completed, ""},
	{fact.Executing, "task-failed", fact.Failed, ""},
	{fact.HandingOff, "handoff-complete", fact.Executing, ""},
	{fact.HandingOff, "handoff-returned", fact.Executing, "the source owns it"},
	{fact.HandingOff, "handoff-returned", fact.Pending, "nobody owns it"},
	{fact.Waiting, "children-joined", fact.Executing, "its owner resumes"},
	{fact.Waiting, "children-joined", fact.Completed, "nobody owns it"},
	{fact.Executing, "ticket-opened", fact.Waiting, "its owner asks people"},
	{fact.HandingOff, "ticket-opened", fact.Waiting, "nobody but people is left"},
	{fact.Waiting, "ticket-closed", fact.Executing, "its owner resumes"},
	{fact.Waiting, "ticket-closed", fact.Pending, "nobody owns it"},
	{fact.Waiting, "handoff-request", fact.HandingOff, "somebody takes it from a desk"},
	{fact.Executing, "ticket-released", fact.Waiting, "whoever took it gives it back"},
	{fact.Waiting, "ticket-released", fact.Waiting, ""},
	{fact.HandingOff, "ticket-released", fact.HandingOff, ""},
	{fact.Executing, "ticket-escalated", fact.Waiting, "whoever took it did not finish"},
	{fact.Waiting, "ticket-escalated", fact.Waiting, ""},
	{fact.HandingOff, "ticket-escalated", fact.HandingOff, ""},
	{fact.Parked, "task-replayed", fact.Executing, "it had an owner"},
	{fact.Parked, "task-replayed", fact.Pending, "nobody owns it"},
	{fact.Parked, "task-discarded", fact.Cancelled, ""},
	{fact.Pending, "task-parked", fact.Parked, ""},
	{fact.Executing, "task-parked", fact.Parked, ""},
	{fact.HandingOff, "task-parked", fact.Parked, ""},
	{fact.Waiting, "task-parked", fact.Parked, ""},
	{fact.Pending, "task-cancelled", fact.Cancelled, ""},
	{fact.Executing, "task-cancelled", fact.Cancelled, ""},
	{fact.HandingOff, "task-cancelled", fact.Cancelled, ""},
	{fact.Waiting, "task-cancelled", fact.Cancelled, ""},
	{fact.Parked, "task-cancelled", fact.Cancelled, ""},
}

// HandoffTable is every transition a handoff can make.
var HandoffTable = []Edge[fact.Stage]{
	{None, "handoff-request", fact.Requested, ""},
	{fact.Requested, "approval-asked", fact.AwaitingApproval, ""},
	{fact.AwaitingApproval, "handoff-approved", fact.Requested, ""},
	{fact.AwaitingApproval, "handoff-denied", fact.AwaitingApproval, "handoff-returned follows"},
	{fact.Requested, "handoff-offered", fact.Offered, ""},
	{fact.Requested, "retry-scheduled", fact.Requested, ""},
	{fact.Offered, "handoff-seen", fact.Offered, ""},
	{fact.Offered, "claim-joined", fact.Offered, ""},
	{fact.Offered, "handoff-acknowledgment", fact.Accepted, ""},
	{fact.Offered, "handoff-rejected", fact.Offered, "a claim with candidates left"},
	{fact.Offered, "handoff-rejected", fact.Requested, "nobody is left in this offer"},
	{fact.Offered, "offer-shed", fact.Requested, ""},
	{fact.Offered, "offer-expired", fact.Requested, ""},
	{fact.Offered, "offer-unanswered", fact.Requested, ""},
	{fact.Accepted, "handoff-confirm", fact.Accepted, ""},
	{fact.Accepted, "handoff-complete", fact.Transferred, ""},
	{fact.Requested, "handoff-returned", fact.Rejected, "every receiver said no"},
	{fact.AwaitingApproval, "handoff-returned", fact.Rejected, "denied"},
	{fact.AwaitingApproval, "handoff-returned", fact.Expired, "nobody approved in time"},
	{fact.Accepted, "handoff-returned", fact.Expired, "not confirmed in time"},
	{fact.Requested, "handoff-returned", fact.Withdrawn, "withdrawn by the source"},
	{fact.AwaitingApproval, "handoff-returned", fact.Withdrawn, "withdrawn by the source"},
	{fact.Offered, "handoff-returned", fact.Withdrawn, "withdrawn by the source"},
	{fact.Accepted, "handoff-returned", fact.Withdrawn, "withdrawn by the source"},
	{fact.Requested, "handoff-returned", fact.Undeliverable, "nobody could be reached, and the source wants it back"},
	{fact.Requested, "ticket-opened", fact.AtDesk, "nobody but people is left"},
	{fact.Requested, "task-parked", fact.DeadLettered, ""},
	{fact.AwaitingApproval, "task-parked", fact.DeadLettered, ""},
	{fact.Offered, "task-parked", fact.DeadLettered, ""},
	{fact.Accepted, "task-parked", fact.DeadLettered, ""},
	{fact.Requested, "task-cancelled", fact.Withdrawn, ""},
	{fact.AwaitingApproval, "task-cancelled", fact.Withdrawn, ""},
	{fact.Offered, "task-cancelled", fact.Withdrawn, ""},
	{fact.Accepted, "task-cancelled", fact.Withdrawn, ""},
}

// TicketTable is every transition a ticket can make. What ends a task or moves it elsewhere closes its ticket as well.
var TicketTable = []Edge[fact.TicketState]{
	{None, "approval-asked", fact.TicketFree, ""},
	{None, "ticket-opened", fact.TicketFree, ""},
	{fact.TicketFree, "ticket-claimed", fact.TicketTaken, ""},
	{fact.TicketTaken, "ticket-claimed", fact.TicketTaken, "by another, once it is no longer kept"},
	{fact.TicketTaken, "ticket-released", fact.TicketFree, ""},
	{fact.TicketFree, "ticket-reminded", fact.TicketFree, ""},
	{fact.TicketTaken, "ticket-reminded", fact.TicketTaken, ""},
	{fact.TicketFree, "ticket-escalated", fact.TicketFree, "nobody saw to it in time"},
	{fact.TicketTaken, "ticket-escalated", fact.TicketFree, "whoever claimed it did not see to it in time"},
	{fact.TicketFree, "ticket-closed", fact.TicketOver, ""},
	{fact.TicketTaken, "ticket-closed", fact.TicketOver, ""},
	{fact.TicketFree, "handoff-approved", fact.TicketOver, ""},
	{fact.TicketTaken, "handoff-approved", fact.TicketOver, ""},
	{fact.TicketFree, "handoff-denied", fact.TicketOver, ""},
	{fact.TicketTaken, "handoff-denied", fact.TicketOver, ""},
	{fact.TicketFree, "handoff-returned", fact.TicketOver, "an approval"},
	{fact.TicketTaken, "handoff-returned", fact.TicketOver, "an approval"},
	{fact.TicketTaken, "handoff-complete", fact.TicketOver, "whoever took the task has handed it on"},
	{fact.TicketTaken, "ticket-opened", fact.TicketOver, "the same, to a desk: another ticket"},
	{fact.TicketTaken, "task-completed", fact.TicketOver, ""},
	{fact.TicketTaken, "task-failed", fact.TicketOver, ""},
	{fact.TicketFree, "task-cancelled", fact.TicketOver, ""},
	{fact.TicketTaken, "task-cancelled", fact.TicketOver, ""},
	{fact.TicketFree, "task-parked", fact.TicketOver, ""},
	{fact.TicketTaken, "task-parked", fact.TicketOver, ""},
}

// move is where an event leads that its fold has not moved by itself: nowhere, if there is no edge or one that stays; else along
// the first edge.
func move[S ~string](table []Edge[S], from S, event string) S {
	to, found := from, false
	for _, e := range table {
		switch {
		case e.From != from || e.Event != event:
		case e.To == from:
			return from
		case !found:
			to, found = e.To, true
		}
	}
	return to
}
