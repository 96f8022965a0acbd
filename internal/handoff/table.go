package handoff

//go:generate go run ./statesdoc -o ../../docs/states.md

// Edge is one way from a task's state to the next. Events that are not in the table leave the state alone.
type Edge struct {
	From  State
	Event string
	To    State
	When  string // which of two edges with the same From and Event; empty if there is one
}

// StageEdge is one way from a handoff's stage to the next.
type StageEdge struct {
	From  Stage
	Event string
	To    Stage
	When  string
}

const none = "" // before the first event

// TaskTable is every transition a task can make. No other is possible: Fold consults it, Decide is tested
// against it, and docs/states.md is generated from it.
var TaskTable = []Edge{
	{none, "task-created", Pending, ""},
	{Pending, "task-started", Executing, ""},
	{Pending, "handoff-request", HandingOff, ""},
	{Pending, "children-spawned", Waiting, "fan-in is awaited"},
	{Pending, "children-spawned", Pending, "fan-in is none"},
	{Executing, "handoff-request", HandingOff, ""},
	{Executing, "children-spawned", Waiting, "fan-in is awaited"},
	{Executing, "children-spawned", Executing, "fan-in is none"},
	{Executing, "task-completed", Completed, ""},
	{Executing, "task-failed", Failed, ""},
	{HandingOff, "handoff-complete", Executing, ""},
	{HandingOff, "handoff-returned", Executing, "the source owns it"},
	{HandingOff, "handoff-returned", Pending, "nobody owns it"},
	{Waiting, "children-joined", Executing, "its owner resumes"},
	{Waiting, "children-joined", Completed, "nobody owns it"},
	{Parked, "task-replayed", Executing, "it had an owner"},
	{Parked, "task-replayed", Pending, "nobody owns it"},
	{Parked, "task-discarded", Cancelled, ""},
	{Pending, "task-parked", Parked, ""},
	{Executing, "task-parked", Parked, ""},
	{HandingOff, "task-parked", Parked, ""},
	{Waiting, "task-parked", Parked, ""},
	{Pending, "task-cancelled", Cancelled, ""},
	{Executing, "task-cancelled", Cancelled, ""},
	{HandingOff, "task-cancelled", Cancelled, ""},
	{Waiting, "task-cancelled", Cancelled, ""},
	{Parked, "task-cancelled", Cancelled, ""},
}

// HandoffTable is every transition a handoff can make.
var HandoffTable = []StageEdge{
	{none, "handoff-request", Requested, ""},
	{Requested, "approval-asked", AwaitingApproval, ""},
	{AwaitingApproval, "handoff-approved", Requested, ""},
	{AwaitingApproval, "handoff-denied", AwaitingApproval, "handoff-returned follows"},
	{Requested, "handoff-offered", Offered, ""},
	{Requested, "retry-scheduled", Requested, ""},
	{Offered, "handoff-seen", Offered, ""},
	{Offered, "claim-joined", Offered, ""},
	{Offered, "handoff-acknowledgment", Accepted, ""},
	{Offered, "handoff-rejected", Offered, "a claim with candidates left"},
	{Offered, "handoff-rejected", Requested, "nobody is left in this offer"},
	{Offered, "offer-expired", Requested, ""},
	{Offered, "offer-unanswered", Requested, ""},
	{Offered, "offer-undelivered", Requested, ""},
	{Accepted, "handoff-confirm", Accepted, ""},
	{Accepted, "handoff-complete", Transferred, ""},
	{Requested, "handoff-returned", Rejected, "every receiver said no"},
	{AwaitingApproval, "handoff-returned", Rejected, "denied"},
	{AwaitingApproval, "handoff-returned", Expired, "nobody approved in time"},
	{Accepted, "handoff-returned", Expired, "not confirmed in time"},
	{Requested, "handoff-returned", Withdrawn, "withdrawn by the source"},
	{AwaitingApproval, "handoff-returned", Withdrawn, "withdrawn by the source"},
	{Offered, "handoff-returned", Withdrawn, "withdrawn by the source"},
	{Accepted, "handoff-returned", Withdrawn, "withdrawn by the source"},
	{Requested, "handoff-returned", Undeliverable, "nobody could be reached, and the source wants it back"},
	{Requested, "task-parked", DeadLettered, ""},
	{AwaitingApproval, "task-parked", DeadLettered, ""},
	{Offered, "task-parked", DeadLettered, ""},
	{Accepted, "task-parked", DeadLettered, ""},
	{Requested, "task-cancelled", Withdrawn, ""},
	{AwaitingApproval, "task-cancelled", Withdrawn, ""},
	{Offered, "task-cancelled", Withdrawn, ""},
	{Accepted, "task-cancelled", Withdrawn, ""},
}

// move is the state after an event. want picks between edges that differ in When; the first edge wins where none
// leads to it. No edge: the state stays.
func move(from State, event string, want State) State {
	to, found := from, false
	for _, e := range TaskTable {
		if e.From == from && e.Event == event {
			if e.To == want {
				return want
			}
			if !found {
				to, found = e.To, true
			}
		}
	}
	return to
}

// moveStage is move for handoffs.
func moveStage(from Stage, event string, want Stage) Stage {
	to, found := from, false
	for _, e := range HandoffTable {
		if e.From == from && e.Event == event {
			if e.To == want {
				return want
			}
			if !found {
				to, found = e.To, true
			}
		}
	}
	return to
}
