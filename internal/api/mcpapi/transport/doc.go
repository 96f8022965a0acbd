// Package transport serves MCP over Streamable HTTP: the protocol versions with sessions and those without at one URL. It authenticates
// requests, binds sessions to principals, limits what a principal may hold open, and reports refusals as protocol errors.
//
// Invariants:
//   - Every request is authenticated: the API names the principal of its token, and the calls of the request use that token.
//   - A session belongs to one principal, with one person at its client and one set of scopes. For any other caller it does not exist; a
//     new token of the same principal, person and scopes continues it.
//   - Background work, outside of any call, uses the newest token seen. It pauses when that token is refused.
//   - The streams that were opened with a token end at most 15 seconds after it becomes invalid (handler.go).
//   - Every principal has its own server and its own limits.
//
// Where to change what:
//   - handler.go: the limits: sessions and streams of one principal, principals that are kept, the size of a message, how long a
//     session may be idle, and how often the token of an open request is checked again
//   - principals.go: when a principal is forgotten; serving.go: when it has a server; session.go: which sessions are in use; continued.go: which sessions of
//     a server that was restarted continue
//   - event_store.go: how many events wait for a client that reconnects
//   - wait.go: which calls wait before the server of their principal has them, with the memory of one goroutine
//   - caller.go: which tokens share a session; token.go: which token background work uses
//   - body.go: from which size on messages wait for each other; message.go: which messages are refused; answer.go: how refusals
//     look
//
// Start reading at [Handler], then caller.go (the caller of a request), principals.go (which servers are kept), session.go (sessions of
// the older protocol), event_store.go (events for clients that reconnect), and answer.go (refusals).
package transport
