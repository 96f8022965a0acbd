// Package oauthtest is an issuer of tokens for tests: it answers over real HTTP, signs what it is told to, changes its keys,
// and behaves badly on request.
//
// Invariants: none; it is told to break every rule.
//
// Start reading at [Issuer].
package oauthtest
