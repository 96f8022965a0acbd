// Package httpapi is the HTTP door: everything under /v1, described by OpenAPI 3.1 at /openapi.json, with problem+json
// errors, long polls and a stream of events. A route reads its input, calls one use case and writes what it answers;
// nothing is decided here.
//
// May import: app, roster, knowledge, shelf, view, the domain's types, drift, artifact, shape, huma, net/http.
//
// Invariants:
//   - Every call under /v1 has a caller, who comes from its bearer token alone.
//   - Every refusal is a [Problem] with code, message and hint; every code has one status ([statuses]). What is no
//     refusal never leaves the process: it is logged under an id, and the answer names the id.
//   - Unknown fields and parameters are refused, as are bodies that are too long, too deep or not UTF-8.
//   - docs/openapi.json is what the server serves; a test fails where they differ.
//
// Start reading at [New], then route.go (how a use case becomes a route), shortcut.go (how most calls are taken), then tasks.go.
package httpapi
