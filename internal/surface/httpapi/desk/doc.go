// Package desk serves tickets: what people are asked, and what they do about it.
//
// May import: door, app, the use cases of desk, docket, view, the domain's types, huma, net/http.
//
// Invariants: a route reads its input, calls one use case and writes what it answers; nothing is decided here.
//
// Start reading at [Routes].
package desk
