// Package inside is HTTP without a network: requests of a handler in the same process.
//
// May import: net/http.
//
// Invariants:
//   - An answer that streams is read as it is written. Whoever closes its body or ends its context ends the handler's writing.
//
// Start reading at [Transport].
package inside
