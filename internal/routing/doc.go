// Package routing decides whether and to whom a task is handed off, and explains the decision: [Decide] by the policy in
// force, and [Route] by the state of the agents.
//
// It never reads a clock: the time is an argument.
//
// Invariants:
//   - The same request, agents and time give the same [Plan], whatever the order of the agents.
//   - A plan offers to no agent twice and to no excluded agent, and it considers at most as many as MaxTargets and
//     MaxFallbacks together, however long or circular the lists of fallbacks are.
//   - Every agent that was examined is in the plan with its reason, or counted in Omitted; also when no agent is eligible.
//   - The state of the agents may be stale. A plan is advice: only the task's stream decides, and the one probe of a
//     half-open circuit must still be claimed on the agent's own stream.
//   - An adviser is asked only if no rule matches, chooses among its choices, and otherwise changes nothing.
//
// Where to change what:
//   - rank.go: the order of agents with the same capability: whether they can take the task now, preferred capabilities, load, failures,
//     cost, latency
//   - route.go: which agents are passed over, in which order the reasons count, and who stands in for whom
//   - request.go: the most targets and fallbacks of one plan, and how many names a refusal suggests; plan.go: the reasons that are recorded
//   - decide.go: what is done where no rule matches, and how many choices an adviser has
//   - suggest.go: which names a refusal suggests: those close to a wrong one
//   - embedder.go: how many texts are embedded at once
//   - Rules are matched in policy/match.go; circuits and standby agents are added in usecase/routes/plan.go and
//     usecase/routes/offer.go.
//   - directory.go: what is known of an agent when it is compared
//
// Start reading at [Request] and [Route], with the [Directory] of the agents, then rank.go (the order of the agents that have a capability); for the policy at [Question]
// and [Decide].
package routing
