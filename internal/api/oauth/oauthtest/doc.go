// Package oauthtest is a token issuer for tests: it answers over HTTP, signs any claims, rotates its keys, and misbehaves on request.
//
// It has no invariants: tests have it break every rule of a real issuer.
//
// Start reading at [Issuer].
package oauthtest
