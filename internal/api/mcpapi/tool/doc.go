// Package tool defines the tools of the MCP server: for each its description for clients, its arguments, its answer and its refusals.
//
// Invariants:
//   - A tool has one definition for every set of tools; arguments with the tag `set:"all"` are for the clients of that set alone.
//   - Text that names a tool goes through [Call.Say], so that it has the name that the client sees.
//
// Where to change what:
//   - tool.go: what a tool, its answer and its hints are; next.go: what an owner is told to do next; receipt.go: what is said of a change
//   - wait.go: waits for a ticket or a task, also while the server restarts
//
// Start reading at [Define], then [Call] and [Answer].
package tool
