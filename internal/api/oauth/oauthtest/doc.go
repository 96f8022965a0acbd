// Package oauthtest is a token issuer for tests: it answers over HTTP, signs any claims, rotates its keys, and misbehaves on request.
//
// Invariants: none; tests make it break every rule.
//
// Start reading at [Issuer].
package oauthtest
