// Package routing decides whether and where a task is handed off, and who could catch a handoff, in which order, and says
// why: [Decide] by the policy in force, and [Route] over what is known of the agents.
//
// It never reads a clock: now is an input.
//
// Invariants:
//   - The same request, agents and time give the same [Plan], whatever order the agents come in.
//   - A plan offers to nobody twice and to nobody who is left out, and it considers at most as many as MaxTargets and
//     MaxFallbacks together, however long or circular the lists of fallbacks are.
//   - Every agent that was looked at is in the plan with its reason, or counted in Omitted; also when Route refuses.
//   - What is known of the agents may be stale. A plan is advice: only the task's stream decides, and the one probe
//     of a half-open circuit must still be claimed on the agent's own stream.
//   - An adviser is asked only where no rule matches, chooses among what it was offered, and otherwise changes nothing.
//
// Start reading at [Request] and [Route], then [Question] and [Decide].
package routing
