// Package dispatch serves the decisions about where a task goes: what is said is to be done.
//
// May import: door, app, the use cases of dispatch, phrase, the domain's types, huma, net/http.
//
// Invariants: a route reads its input, calls one use case and writes what it answers; nothing is decided here.
//
// Start reading at [Routes].
package dispatch
