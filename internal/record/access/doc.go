// Package access records the accesses of each principal: reads of content, exports, restores, orders to nodes, attempts that were
// refused, and the issuer whose token admitted it. Each principal has a stream of its own, written without compare-and-set, so that recording
// a read never makes the writer of a task try again. The events are in event.go.
//
// Invariants: a read of content is durable before it is answered; refusals are rate-limited and counted, and the
// count of those omitted is in the next one that is recorded.
//
// Where to change what:
//   - access.go: how many refusals of one principal are recorded; list.go: how often reads of a list are, and how many ids one
//     names
//   - event.go: which accesses are recorded, and the fields of each
//
// Start reading at [Log].
package access
