// Package caller is who asks: a principal from a credential, with the idempotency key of one call, as the rules, the
// record and the log of accesses each want to see it.
//
// Invariants: nothing in a caller comes from a request's body.
//
// Start reading at [Caller].
package caller
