// Package quota limits the open tasks that one principal has requested, and what of one sender waits for one receiver or at one desk:
// approximately, so that it costs little. And it has principals and senders take turns.
//
// Invariant: a number that cannot be read refuses nothing.
//
// Start reading at [Quota] and [Waiting].
package quota
