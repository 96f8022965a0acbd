// Package schema describes the HTTP API to its clients: the document as a whole, the names of its schemas, closed sets, and
// which fields of an input are in the path and not in the body. The routes themselves are described where they are served.
//
// Invariants:
//   - The description depends on the types alone, so that the same program always serves the same document.
//
// Start reading at [Config].
package schema
