// Package httpapi is the HTTP API: the routes under /v1, described by OpenAPI 3.1 at /openapi.json, with problem+json refusals, long
// polls and a stream of events. A route reads its input, calls one use case and writes its output; it decides nothing. The package
// endpoint serves a route, the package schema describes it.
//
// Invariants:
//   - Every call under /v1 has a caller, from its bearer token alone.
//   - Unknown fields and parameters are refused, as are bodies that are too long ([DefaultMaxBody], in httpapi.go), too deep or not UTF-8.
//   - docs/openapi.json is what the server serves; a test fails if they differ.
//
// Start reading at [New], then tasks.go. The routes of a noun, and the JSON that they
// answer, are in the file of its name; guard.go has what precedes every route.
package httpapi

//go:generate go test -run TestDocsShowWhatTheServerServes -update .
