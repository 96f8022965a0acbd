// Package login has the commands by which people sign in at the issuer of a server, and out.
//
// Invariants:
//   - No token is printed.
//
// Start reading at [Command].
package login
