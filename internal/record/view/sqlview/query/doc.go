// Package query runs the queries of the views: each is prepared once, on a pool of read-only connections.
//
// Invariants:
//   - A caller that waits for a connection holds none.
//   - The number of prepared statements is bounded.
//
// Where to change what:
//   - query.go: how many statements are kept; compare.go: how tables are compared; selection.go: how conditions are written; words.go: how a list is
//     searched by words
//
// Start reading at [DB].
package query
