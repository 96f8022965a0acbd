// Package bench makes load on a user's own server, and measures each stage of a handoff: created, seen by its receiver, accepted,
// completed.
//
// Invariants:
//   - All agents, tokens and tasks are in a workspace of their own. At the end, also after an interruption, the tasks that are left
//     are cancelled, and the agents and tokens removed. The record keeps what happened, as it always does.
//   - Clients run in a closed loop: each begins a handoff when its last one is over. Latencies are measured by one clock, that of this
//     process.
//   - Percentiles are exact: every sample is kept.
//
// Start reading at [Command], then round.go for what a client does, and stats.go.
package bench
