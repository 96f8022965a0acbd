// Package caller says who makes one call: a [Caller] is a principal with its credential and the idempotency key of the call.
//
// Each layer has a type of its own for who acts, and this package alone converts between the three:
//   - identity.Principal is who acts. The rules of tasks, agents, memory and channels take it: Caller.Principal.
//   - Caller is a principal with the credential, its scopes and the idempotency key. The use cases take it.
//   - ledger.Actor is the principal as an entry of the ledger names it: [Caller.Actor], and [Caller.Write] for a writer to a
//     stream. Package identity reads it back from the record: identity.ParsePrincipal.
//
// Invariants: nothing in a caller comes from a request's body.
//
// Where to change what:
//   - caller.go: what a caller is, what it may do (in an archived workspace only read, and manage tokens), and the longest idempotency key; digest.go: when two requests under one key are the same
//   - made.go: which entries a call made; id.go: new ids
//
// Start reading at [Caller].
package caller
