// Package agents has the use cases of agents: register, readiness, remove, circuits, list, show. [Store] gives other use cases the agents.
//
// Invariants:
//   - An agent speaks for itself alone.
//   - An agent that an operator took off duty is made ready again only by an operator.
//   - Heartbeats are volatile; only changes of readiness are recorded.
//
// Where to change what:
//   - register.go: which registrations and ways to be reached are refused; the limits are in agent/validate.go and the defaults
//     in agent/spec.go
//   - circle.go: that an escalation chain may not lead back to its agent; warnings.go: what it is warned of
//   - spec.go: the JSON of a registration
//   - beat.go: when a sign of life is recorded. agent/decide.go decides when a silent agent goes offline, and
//     followup/presence.go records it
//   - set_readiness.go: who may set readiness; followup/relieve.go takes offers away where an agent has more than its limit of
//     tasks
//   - agents.go: what an answer says of an agent, such as when it was last heard of
//   - list.go: which agents a list has for its caller; a filter begins there
//   - store.go: how many agents are kept in memory, and how many idempotency keys an agent remembers
//
// Start reading at [Agents.Register].
package agents
