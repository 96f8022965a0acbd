// Package door is the MCP server's door over Streamable HTTP: both eras of the protocol at one URL. It knows who comes, whose
// session is whose, how much of everything one may hold open, and how what cannot be served is refused.
//
// Invariants:
//   - Every request proves itself: the API is asked whom its token speaks for, and what a call does is done with that token.
//   - A session belongs to one principal, with one person at its client and one set of scopes. To anybody else it is one that
//     never was; a new token of the same goes on with it.
//   - What goes on when no call is under way has the newest token that was shown. Once that is refused it stands still.
//   - What a token holds open ends within seconds when the token does.
//   - Every principal has a server of its own, and bounds of its own: nobody can use up what is another's.
//
// Start reading at [Door], then visitor.go (who comes), principals.go (whose servers are kept), session.go (sessions of the older
// protocol), replay.go (what a client that was cut off is told again), and answer.go (how a refusal looks).
package transport
