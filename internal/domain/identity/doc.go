// Package identity holds the rules for principals: their tokens, and what each role may do. One
// token is one stream (token/ID); its [State] is the fold of its events.
//
// It never reads a clock or a source of randomness: both are inputs.
//
// Invariants:
//   - A token's secret is never in a command, an event or a state: only its SHA-256 is. The secret has 256 random
//     bits, which is why a plain hash is enough.
//   - A credential that does not count is refused with the same words, whether the token is unknown or the secret
//     wrong; only the bearer of the secret learns that a token has expired or was revoked.
//   - What a role may do is a table ([May]); a role or a verb outside the closed sets is refused.
//   - A scope narrows what a role may do, and widens nothing.
//
// Where to change what:
//   - permission.go: what each role may do; scope.go: what a scope of an outside token leaves of that
//   - token.go: when a token counts, expires and is revoked; token_text.go: its form
//   - external_token.go: what is known of a token of an outside issuer. Its signature is checked in package api/oauth;
//     usecase/tokens/vouch.go decides for which agent it counts
//   - bare.go: in which fields of a JSON answer an agent's name stands without its role
//   - principal.go: how a principal is written, such as agent/coder
//
// Start reading at [Principal], then permission.go (the roles, and what each may do) and scope.go; for tokens at [State] and [Verify].
package identity
