// Package tokens is the use cases of tokens: create, revoke, list; and authentication, which tells who presents one.
//
// Invariants:
//   - A token of an agent that was removed no longer counts.
//   - A token of an outside issuer makes its bearer an agent at most, and registers no agent.
//   - The text of a token exists only in the first answer.
//
// Start reading at [Tokens.Authenticate].
package tokens
