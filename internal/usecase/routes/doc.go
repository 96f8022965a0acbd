// Package routes proposes receivers for handoffs, from the state of the agents: candidates, escalation chains, fallbacks,
// peers, desks; and makes offers to agents whose circuits admit them.
//
// Invariants:
//   - Every offer that waits for an answer is made by [Routes.Offering], or admitted by [Routes.Admit] where an agent joins a claim. A takeover is
//     accepted in the entry that offers it, and passes no circuit.
//   - The one probe of a half-open circuit is claimed on the agent's own stream before an offer is made.
//   - Views only propose. No agent or desk is refused because the views lack an entry.
//
// Where to change what:
//   - chain.go: which escalation chain a task has (its agent's own or the policy's), who of each level is asked (a level in which nobody can take
//     the task is passed over), and which people come at its end
//   - plan.go: which agents are candidates, and which offline agents come last among them (standby); how they are compared is in routing/rank.go
//   - offer.go: when a circuit lets an offer through, and the one probe of a half-open one. When a circuit opens is in
//     agent/circuit_table.go
//   - peers.go: who may get the offers of an agent with too much to do
//   - desk.go: which desks are staffed
//   - directory.go: what routing is told of the agents
//
// How candidates are compared is for package routing. Start reading at [Routes.Plan], then [Routes.Offering].
package routes
