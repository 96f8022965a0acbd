package task

import "github.com/trapezehq/trapeze/internal/domain/event"

//go:generate go run ../handoff/statesdoc -o ../../../docs/states.md

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
var TaskTable = []Edge[event.State]{
	{None, "task-created", event.Pending, ""},
	{event.Pending, "task-started", event.Executing, ""},
	{event.Pending, "handoff-request", event.HandingOff, ""},
	{event.Pending, "children-spawned", event.Waiting, "fan-in is awaited"},
	{event.Pending, "children-spawned", event.Pending, "fan-in is none"},
	{event.Executing, "handoff-request", event.HandingOff, ""},
	{event.Executing, "children-spawned", event.Waiting, "fan-in is awaited"},
	{event.Executing, "children-spawned", event.Executing, "fan-in is none"},
	{event.Executing, "task-completed", event.Completed, ""},
	{event.Executing, "task-failed", event.Failed, ""},
	{event.HandingOff, "handoff-complete", event.Executing, ""},
	{event.HandingOff, "handoff-returned", event.Executing, "the source owns it"},
	{event.HandingOff, "handoff-returned", event.Pending, "nobody owns it"},
	{event.Waiting, "children-joined", event.Executing, "its owner resumes"},
	{event.Waiting, "children-joined", event.Completed, "nobody owns it"},
	{event.Executing, "ticket-opened", event.Waiting, "its owner asks people"},
	{event.HandingOff, "ticket-opened", event.Waiting, "nobody but people is left"},
	{event.Waiting, "ticket-closed", event.Executing, "its owner resumes"},
	{event.Waiting, "ticket-closed", event.Pending, "nobody owns it"},
	{event.Waiting, "handoff-request", event.HandingOff, "somebody takes it from a desk"},
	{event.Executing, "ticket-released", event.Waiting, "the person who took it returns it"},
	{event.Waiting, "ticket-released", event.Waiting, ""},
	{event.HandingOff, "ticket-released", event.HandingOff, ""},
	{event.Executing, "ticket-escalated", event.Waiting, "the person who took it did not finish"},
	{event.Waiting, "ticket-escalated", event.Waiting, ""},
	{event.HandingOff, "ticket-escalated", event.HandingOff, ""},
	{event.Parked, "task-replayed", event.Executing, "it had an owner"},
	{event.Parked, "task-replayed", event.Pending, "nobody owns it"},
	{event.Parked, "task-discarded", event.Cancelled, ""},
	{event.Pending, "task-parked", event.Parked, ""},
	{event.Executing, "task-parked", event.Parked, ""},
	{event.HandingOff, "task-parked", event.Parked, ""},
	{event.Waiting, "task-parked", event.Parked, ""},
	{event.Pending, "task-cancelled", event.Cancelled, ""},
	{event.Executing, "task-cancelled", event.Cancelled, ""},
	{event.HandingOff, "task-cancelled", event.Cancelled, ""},
	{event.Waiting, "task-cancelled", event.Cancelled, ""},
	{event.Parked, "task-cancelled", event.Cancelled, ""},
}

// HandoffTable is every transition a handoff can make.
var HandoffTable = []Edge[event.Stage]{
	{None, "handoff-request", event.Requested, ""},
	{event.Requested, "approval-asked", event.AwaitingApproval, ""},
	{event.AwaitingApproval, "handoff-approved", event.Requested, ""},
	{event.AwaitingApproval, "handoff-denied", event.AwaitingApproval, "handoff-returned follows"},
	{event.Requested, "handoff-offered", event.Offered, ""},
	{event.Requested, "retry-scheduled", event.Requested, ""},
	{event.Offered, "handoff-seen", event.Offered, ""},
	{event.Offered, "claim-joined", event.Offered, ""},
	{event.Offered, "handoff-acknowledgment", event.Accepted, ""},
	{event.Offered, "handoff-rejected", event.Offered, "a claim with candidates left"},
	{event.Offered, "handoff-rejected", event.Requested, "nobody is left in this offer"},
	{event.Offered, "offer-shed", event.Requested, ""},
	{event.Offered, "offer-expired", event.Requested, ""},
	{event.Offered, "offer-unanswered", event.Requested, ""},
	{event.Accepted, "handoff-confirm", event.Accepted, ""},
	{event.Accepted, "handoff-complete", event.Transferred, ""},
	{event.Requested, "handoff-returned", event.Rejected, "every receiver said no"},
	{event.AwaitingApproval, "handoff-returned", event.Rejected, "denied"},
	{event.AwaitingApproval, "handoff-returned", event.Expired, "nobody approved in time"},
	{event.Accepted, "handoff-returned", event.Expired, "not confirmed in time"},
	{event.Requested, "handoff-returned", event.Withdrawn, "withdrawn by the source"},
	{event.AwaitingApproval, "handoff-returned", event.Withdrawn, "withdrawn by the source"},
	{event.Offered, "handoff-returned", event.Withdrawn, "withdrawn by the source"},
	{event.Accepted, "handoff-returned", event.Withdrawn, "withdrawn by the source"},
	{event.Requested, "handoff-returned", event.Undeliverable, "nobody could be reached, and the source wants it back"},
	{event.Requested, "ticket-opened", event.AtDesk, "nobody but people is left"},
	{event.Requested, "task-parked", event.DeadLettered, ""},
	{event.AwaitingApproval, "task-parked", event.DeadLettered, ""},
	{event.Offered, "task-parked", event.DeadLettered, ""},
	{event.Accepted, "task-parked", event.DeadLettered, ""},
	{event.Requested, "task-cancelled", event.Withdrawn, ""},
	{event.AwaitingApproval, "task-cancelled", event.Withdrawn, ""},
	{event.Offered, "task-cancelled", event.Withdrawn, ""},
	{event.Accepted, "task-cancelled", event.Withdrawn, ""},
}

// TicketTable is every transition a ticket can make. What ends a task or moves it elsewhere closes its ticket as well.
var TicketTable = []Edge[event.TicketState]{
	{None, "approval-asked", event.TicketStateOpen, ""},
	{None, "ticket-opened", event.TicketStateOpen, ""},
	{event.TicketStateOpen, "ticket-claimed", event.TicketStateClaimed, ""},
	{event.TicketStateClaimed, "ticket-claimed", event.TicketStateClaimed, "by another, once it is no longer kept"},
	{event.TicketStateClaimed, "ticket-released", event.TicketStateOpen, ""},
	{event.TicketStateOpen, "ticket-reminded", event.TicketStateOpen, ""},
	{event.TicketStateClaimed, "ticket-reminded", event.TicketStateClaimed, ""},
	{event.TicketStateOpen, "ticket-escalated", event.TicketStateOpen, "nobody saw to it in time"},
	{event.TicketStateClaimed, "ticket-escalated", event.TicketStateOpen, "the claimant did not handle it in time"},
	{event.TicketStateOpen, "ticket-closed", event.TicketStateClosed, ""},
	{event.TicketStateClaimed, "ticket-closed", event.TicketStateClosed, ""},
	{event.TicketStateOpen, "handoff-approved", event.TicketStateClosed, ""},
	{event.TicketStateClaimed, "handoff-approved", event.TicketStateClosed, ""},
	{event.TicketStateOpen, "handoff-denied", event.TicketStateClosed, ""},
	{event.TicketStateClaimed, "handoff-denied", event.TicketStateClosed, ""},
	{event.TicketStateOpen, "handoff-returned", event.TicketStateClosed, "an approval"},
	{event.TicketStateClaimed, "handoff-returned", event.TicketStateClosed, "an approval"},
	{event.TicketStateClaimed, "handoff-complete", event.TicketStateClosed, "the person who took the task has handed it off"},
	{event.TicketStateClaimed, "ticket-opened", event.TicketStateClosed, "the same, to a desk: another ticket"},
	{event.TicketStateClaimed, "task-completed", event.TicketStateClosed, ""},
	{event.TicketStateClaimed, "task-failed", event.TicketStateClosed, ""},
	{event.TicketStateOpen, "task-cancelled", event.TicketStateClosed, ""},
	{event.TicketStateClaimed, "task-cancelled", event.TicketStateClosed, ""},
	{event.TicketStateOpen, "task-parked", event.TicketStateClosed, ""},
	{event.TicketStateClaimed, "task-parked", event.TicketStateClosed, ""},
}

// Moves are the edges of a table by their events and the states that they lead from, and where each leads: nowhere, if one of two stays; else along the first.
type Moves[S ~string] map[string]map[S]S

// The edges of the tables.
var (
	TaskMoves    = movesOf(TaskTable)
	HandoffMoves = movesOf(HandoffTable)
	TicketMoves  = movesOf(TicketTable)
)

func movesOf[S ~string](table []Edge[S]) Moves[S] {
	m := Moves[S]{}
	for _, e := range table {
		if m[e.Event] == nil {
			m[e.Event] = map[S]S{}
		}
		if _, found := m[e.Event][e.From]; !found || e.To == e.From {
			m[e.Event][e.From] = e.To
		}
	}
	return m
}

// from is where an event leads that its fold has not moved by itself.
func (m Moves[S]) from(state S, event string) S {
	if to, ok := m[event][state]; ok {
		return to
	}
	return state
}
