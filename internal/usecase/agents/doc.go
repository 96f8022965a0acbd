// Package agents is the use cases of agents: register, readiness, remove, circuits, list, show. [Store] is the agents as other use
// cases reach them.
//
// Invariants:
//   - An agent speaks for itself alone.
//   - An agent that an operator took off duty is made ready again only by an operator.
//   - Heartbeats are volatile; only changes of readiness are recorded.
//
// Start reading at [Agents.Register].
package agents
