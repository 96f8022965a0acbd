// Package outside tests the MCP server with other programs: the conformance suite of the protocol, and clients and a framework from
// npm. It has only tests, with the build tag outside; the programs are in testdata and are installed with `npm ci`.
//
// Invariants:
//   - No failure is expected: a scenario that fails fails the tests.
//   - The suite tests the handler that the server serves, with fixture tools added and nothing else changed.
//   - Clients talk to the program `trapeze serve`, as their users would, with its URL and a token only.
//
// Start reading at conformance_test.go, then clients_test.go.
package outside
