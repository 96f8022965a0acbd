// Package fleet is what a server knows of the others that share its record, and whether it takes new work itself.
//
// Invariants:
//   - A server that is drained is not ready, answers calls that wait, leads nothing that another can lead, and serves all other calls.
//   - It takes work again when it is told so, or started again.
//
// Start reading at [Fleet].
package fleet
