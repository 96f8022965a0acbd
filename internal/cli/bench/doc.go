// Package bench makes load on a user's own server, and measures each stage of a handoff: created, seen by its receiver, accepted,
// completed.
//
// Invariants:
//   - All agents, tokens and tasks are in a workspace of their own. At the end, also after an interruption, the tasks that are left
//     are cancelled, the agents and tokens removed, and the workspace archived. The record keeps what happened, as it always does.
//   - Clients run in a closed loop: each begins a handoff when its last one is over. Latencies are measured by one clock, that of this
//     process.
//   - Percentiles are exact: every sample is kept.
//
// Where to change what:
//   - options.go: the kinds of load and their bounds; report.go: the targets and when they are met
//   - round.go: what one client does, and when a handoff counts as failed; period.go: the warm-up, and which handoffs count
//   - party.go, mcp.go: how an agent calls over HTTP and MCP; setup.go: what is made and cleared up; left.go: what a killed run left behind;
//     mark.go: how a run that is still alive is recognised
//   - stats.go: the stages and their percentiles; bench.go: which servers are refused
//   - attended.go: when a run ends early, such as with its terminal
//
// Start reading at [Command], then round.go for what a client does, and stats.go.
package bench
