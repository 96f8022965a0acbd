// Package pgtest runs PostgreSQL servers for tests, each with a new data directory of its own. It needs the programs of the server, which
// Debian has in the package postgresql, and nothing else: no service is used, and none is changed.
//
// Tests that use it have the build tag outside.
//
// Where to change what:
//   - server.go: the settings of a server, and how it is killed; end_linux.go: that it ends with its test; user_unix.go: as which user it runs
//
// Start reading at [Start].
package pgtest
