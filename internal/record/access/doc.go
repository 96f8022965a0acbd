// Package access puts on record who looked at what: reads of content, exports, and attempts that were refused; and by
// whose word a principal was let in. Each principal has a stream of its own, written without compare-and-set, so that recording a read never makes the
// writer of a task try again.
//
// Invariants: a read of content is durable before it is answered; refusals are rate-limited and counted, and the
// count of those left out is in the next one on record.
//
// Start reading at [Log].
package access
