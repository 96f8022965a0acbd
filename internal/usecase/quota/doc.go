// Package quota limits the open tasks that one principal has requested, and the open offers of one sender to one receiver:
// approximately, so that it costs little.
//
// Invariant: a number that cannot be read refuses nothing.
//
// Start reading at [Quota] and [Offers].
package quota
