// Package admin administers a Trapeze server over HTTP: its policies, alerts, figures, erasures, proofs and the clock of
// tests.
//
// Refusals, idempotency keys and repetitions are those of package client.
//
// Where to change what:
//   - alert.go, stats.go: the alerts and figures that people look at; trail.go: reading on after damaged entries
//   - policy.go, erasure.go, proof.go: one noun each; clock.go moves the clock of a server for tests
//   - client.go: how a call of this package is made
//
// Start reading at [New].
package admin
