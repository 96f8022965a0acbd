// Package tokens has the use cases of tokens: create, revoke, list; and authentication, which tells who presents one.
//
// Invariants:
//   - A token of an agent that was removed no longer counts.
//   - A token of an outside issuer registers no agent and makes no workspace. It names a person only by a role that the configuration gives to a group.
//   - The text of a token exists only in the first answer.
//
// Where to change what:
//   - tokens.go: how many tokens are cached, and how a cache learns what another server has recorded (package record/stream; server/sharedrecord tells it)
//   - authenticate.go: which tokens count, and what a failed attempt records
//   - vouch.go: for whom a token of an outside issuer counts; package api/oauth verifies it
//   - create.go, revoke.go: who may make and end tokens; identity/token.go decides which expiry a new token may have, and when a token has expired
//   - bootstrap.go: the first token of a new server; for_model.go: tokens that a model may not hold
//
// Start reading at [Tokens.Authenticate].
package tokens
