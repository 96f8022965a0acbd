// Package setup gives agents' programs the way to Trapeze: it finds the MCP clients that there are, writes what they need
// into their files, and says what is wrong with a set-up.
//
// Invariants:
//   - Nothing is written that was not shown before, and nothing without a yes.
//   - What else is in a file stays as it is; what cannot be read is refused. What was there before is kept.
//   - No token is ever written into a client's file.
//   - A hook never keeps a client from going on: what it cannot say, it leaves out.
//   - Doctor changes nothing, starts no server, and runs no program that a client's file names.
//
// Start reading at [Commands], then clients.go.
package setup
