// Package oauth makes the server a protected resource of an OAuth 2.1 issuer: it verifies access tokens that are JSON Web Tokens
// (RFC 9068) and publishes the metadata that tell clients where to get one (RFC 9728). Which principal a token belongs to, and what it
// may do, is decided by package usecase/tokens and the rules in domain/identity.
//
// Invariants:
//   - A token is accepted if this issuer signed it with an asymmetric key, for this resource, and it is valid now. A missing or
//     ambiguous claim is a refusal.
//   - While the keys of the issuer cannot be fetched, the answer is unavailable, and never a guess.
//   - The issuer is asked for keys, never about a token. Number, duration and size of these requests are limited, independent of the
//     calls that cause them.
//
// Where to change what:
//   - verify.go: which algorithms and which difference of clocks are accepted, whether a token is of a person or an agent, and the refusal of a person
//     whose groups have no role; token.go: the claims; keys.go: the keys
//   - issuer.go: how often the issuer is asked for keys, and for how long; config.go: which claim names the agent
//   - For which agent a token counts is decided in usecase/tokens/vouch.go.
//   - people.go: how claims give a person a name, and groups a role; sign_in.go: how a browser signs in at the issuer
//
// Start reading at [Verifier], then issuer.go for how the keys are fetched.
package oauth
