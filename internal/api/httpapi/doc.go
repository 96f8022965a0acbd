// Package httpapi is the HTTP door: everything under /v1, described by OpenAPI 3.1 at /openapi.json, with problem+json
// errors, long polls and a stream of events. A route reads its input, calls one use case and writes what it answers;
// nothing is decided here. How a route is served is in package endpoint, how it is described in package schema.
//
// Invariants:
//   - Every call under /v1 has a caller, who comes from its bearer token alone.
//   - Unknown fields and parameters are refused, as are bodies that are too long, too deep or not UTF-8.
//   - docs/openapi.json is what the server serves; a test fails where they differ.
//
// Start reading at [New], then tasks.go; for how a use case becomes a route, at package endpoint.
package httpapi

//go:generate go test -run TestDocsShowWhatTheServerServes -update .
