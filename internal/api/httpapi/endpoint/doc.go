// Package door is how a use case is served over HTTP: its route and description, what comes in, what goes out, and what
// a refusal looks like. The rooms beside it say which use cases there are; none of them reads a body or writes a status.
//
// Invariants:
//   - Who calls is what [Enter] was told, from the credential; a body never says it.
//   - Every refusal is a [Problem] with code, message and hint; every code has one status ([statuses]). What is no
//     refusal never leaves the process: it is logged under an id, and the answer names the id.
//   - Unknown fields and parameters are refused, as are bodies that are too long, too deep or not UTF-8.
//   - Both ways through the door, huma's and the short one, answer the same.
//
// Start reading at [Door], then route.go (how a use case becomes a route), then shortcut.go (how most calls are taken).
package endpoint
