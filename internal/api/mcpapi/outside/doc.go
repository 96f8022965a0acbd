// Package outside lets programs of others judge the MCP server: the conformance suite of the protocol, and clients and a
// framework from npm. It holds tests only, with the build tag outside; their programs are in testdata, which `npm ci`
// fills.
//
// Invariants:
//   - No failure is expected: a scenario that fails fails the tests.
//   - The suite judges the handler that the server serves, with fixture tools added and nothing else changed.
//   - Clients talk to the program `trapeze serve`, as their users would, and know nothing but its URL and a token.
//
// Start reading at conformance_test.go, then clients_test.go.
package outside
