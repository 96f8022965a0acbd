// Package garbage keeps the process of a server near a number of bytes, by how often garbage is collected. It is no hard limit. The caches of
// SQLite are set in sqlitelog/options.go.
//
// Start reading at [Keep].
package garbage
