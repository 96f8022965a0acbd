// Package routes proposes receivers for handoffs, from the state of the agents: candidates, escalation chains, fallbacks,
// peers, desks; and makes offers to agents whose circuits admit them.
//
// Invariants:
//   - Every offer of the server is made by [Routes.Offering].
//   - The one probe of a half-open circuit is claimed on the agent's own stream before an offer is made.
//   - Views only propose. No agent or desk is refused because the views lack an entry.
//
// How candidates are compared is for package routing. Start reading at [Routes.Plan], then [Routes.Offering].
package routes
