// Package epoch remembers, for each MCP session of a principal, under which epochs the session owns tasks. An agent may have several
// sessions with one credential, and a session whose lease ended must not complete what another has accepted since. The requests of
// protocol versions without sessions have no such memory.
//
// Invariants:
//   - What a session was given is forgotten with the session.
//   - A session remembers a bounded number of tasks.
//
// Start reading at [Session.Epoch], then [Epochs].
package epoch
