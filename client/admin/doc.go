// Package admin administers a Trapeze server over HTTP: its tokens and its policies.
//
// Refusals, idempotency keys and repetitions are those of package client.
//
// Start reading at [New].
package admin
