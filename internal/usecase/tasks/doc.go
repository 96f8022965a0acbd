// Package tasks has the use cases of tasks and of their handoffs, one file per verb: create, send, accept, reject, complete and others.
//
// Invariants:
//   - Each verb is one decision on the stream of one task, and one entry.
//   - A caller without a part in a task finds no task.
//
// The JSON that callers read of a task, a handoff and an inbox item is written by the HTTP API (httpapi/tasks.go, httpapi/handoffs.go, httpapi/inbox.go); what a list shows of a
// task is in package view.
//
// Where to change what:
//   - await_inbox.go: what a call would wait for that waits elsewhere
//   - inbox_share.go: which of the open claims an agent that waits is shown (for how long it has them before others: quota/holds.go)
//   - inbox.go: how many items an inbox gives if no limit is given, how long a call may wait for an inbox or a task, and when an offer or notice that an inbox gives counts as seen. Which items an inbox has is
//     folded in sqlview/inbox_item.go, and their order is in view/turns.go
//   - preview.go: what a sender sees of an envelope beforehand (what would stop the send: handoffs/foresee.go)
//   - show.go: what an agent sees of a task that was only offered to it (the preview); who sees what is decided in task/visibility.go
//   - takeover.go: which agents get a task without asking its owner, and all of a takeover by an operator, which nobody approves: what is under way is withdrawn, and the
//     task is sent to an agent; shed_offers.go: which offers an agent gives up first (handoffs/shedding.go: how
//     many in one call)
//   - stuck.go, stuck_agent.go: for which tasks a report counts. What a report does is decided in handoff/stuck.go
//   - replay.go: what a replay without receivers does; import.go: what a document of another system becomes
//   - complete.go: when a result is checked; how is in package content/expect
//   - work.go: from which size on calls that seal content wait for each other
//   - Who receives a task is decided in package handoffs, how a change is recorded in package taskstore. Verbs of tickets are in
//     package tickets, reads of the past in package history.
//   - list.go: which tasks a list has for its caller; list_counts.go: how many there are by state; list_saying.go: those with given words; the other verbs have files of their names
//   - notice.go: how it is recorded that one notice was seen
//
// Start reading at [Tasks.Accept], then [Tasks.Create]; package taskstore tells how every change is made.
package tasks
