// Package pgtest runs PostgreSQL servers for tests, each with a new data directory of its own. It needs the programs of the server, which
// Debian has in the package postgresql, and nothing else: no service is used, and none is changed.
//
// Tests that use it have the build tag outside.
//
// Start reading at [Start].
package pgtest
