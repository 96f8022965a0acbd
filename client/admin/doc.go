// Package admin administers a Trapeze server over HTTP: its policies and its figures.
//
// Refusals, idempotency keys and repetitions are those of package client.
//
// Start reading at [New].
package admin
