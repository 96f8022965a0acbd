// Package hintroute finds the routes of the HTTP API that the hint of a refusal speaks of. The server words hints for every API: a caller of this
// one is told which method and path to call.
//
// Invariants: every command and every look-up in a hint of the server has a route here, or is a command that no route replaces; the architecture
// test compares them. Every route is one of the API; a test of httpapi compares them.
//
// Start reading at [Of]; the words of hints, and their routes, are in table.go.
package hintroute
