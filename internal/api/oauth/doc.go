// Package oauth makes the server a resource of an OAuth 2.1 issuer: it checks access tokens that are JSON Web Tokens
// (RFC 9068) and tells clients where to get one (RFC 9728). Who the caller is and may do is for others to say; here is found
// out whether the issuer has said it.
//
// Invariants:
//   - A token counts if this issuer signed it, for this resource, for now, with a key that is its own alone. Anything that is
//     not said plainly counts as not said.
//   - Whether a token counts is never guessed: while the issuer's keys cannot be had, the answer is unavailable.
//   - The issuer is asked for keys, never about a token; how often, how long and how much it may answer is bounded, whoever
//     calls and with whatever.
//
// Start reading at [Verifier], then issuer.go for how its keys are had.
package oauth
