// Package monitor follows the record and counts it: the figures of handoffs, of what waits, and of whether the views agree with the
// ledger.
//
// Invariants:
//   - It works behind the ledger: no append and no answer waits for it.
//   - Before it has counted the whole ledger once, it gives no figure of the record or of the views: a count that still
//     grows would be taken for events.
//   - Whether views and ledger agree is compared at one position, never assumed.
//
// Where to change what:
//   - measure.go: how an alert is measured on what waits now: inboxes, tickets, circuits, the server itself; figures of the
//     record are in figure/condition.go. An alert on another figure of what waits needs a case there
//   - points.go: the figures of what waits, the groups of their ages, and how often large lists are counted again
//   - consistency.go: how views and ledger are compared; monitor.go: how the record is followed
//   - archived.go: which workspaces are measured no more
//
// Start reading at [Monitor.Run], then [Monitor.Points]; package record/figure has the instruments and the counting.
package monitor
