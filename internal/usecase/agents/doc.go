// Package roster is the use cases of who there is: agents with their readiness, presence and circuits, tokens and who
// presents them, channels and who subscribes to them; and whom routing proposes for a handoff, from what the roster knows.
//
// Invariants:
//   - An agent speaks for itself alone; a token of an agent that was removed counts no more.
//   - An outside issuer's word makes nobody more than an agent, and registers nobody.
//   - Whom an operator took off duty, only an operator makes ready again.
//   - Heartbeats are volatile; only changes of readiness are on record.
//   - The one probe of a half-open circuit is claimed on the agent's own stream before an offer is made.
//
// Start reading at [Roster], then route.go.
package agents
