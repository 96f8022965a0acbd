// Package schema describes the HTTP API to its clients: the document as a whole, the names of its schemas, closed sets, and
// which fields of an input are in the path and not in the body. The routes themselves are described where they are served.
//
// Invariants:
//   - The description depends on the types alone, so that the same program always serves the same document.
//
// Where to change what:
//   - openapi.go: the names of schemas, and what the description says of the API as a whole; registry.go: which servers of a process share what is described of types
//   - closedset.go: which types are closed sets
//   - document.go: what the server accepts beyond the types, such as null for a field that may be omitted
//
// Start reading at [Config].
package schema
