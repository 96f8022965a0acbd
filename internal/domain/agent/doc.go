// Package agent holds the rules for agents: their registration, capabilities and readiness, and the circuit breaker that
// keeps offers from an agent that fails. One agent is one stream (agent/NAME); its [State] is the fold of its events.
//
// It never reads a clock: now is an input.
//
// Invariants:
//   - [Decide] may refuse and changes nothing. [Fold] never refuses. A State is immutable: Fold returns a new one
//     and shares with the old only what neither changes, so states may be cached and read by many goroutines.
//   - A command that would change nothing yields no events and no error. All commands may therefore be repeated.
//   - Heartbeats are not events. Only changes of readiness are. An agent without a PresenceTTL is as ready as it
//     last said; with one, missed heartbeats make it offline until it is heard again.
//   - An agent's word never overrules an operator who took it off duty ([DutyTable]).
//   - The circuit moves only as [CircuitTable] says. An open circuit becomes half-open by time alone: [CircuitAt]
//     computes that when it is read, and there is no event.
//   - Outcomes are counted at most once: each names the ledger position that caused it, and a position that is not
//     beyond the last counted one is ignored. Reports must therefore come in the order of the ledger, at least once.
//
// Where to change what:
//   - spec.go: what an agent registers, such as how many tasks it takes at once (by default any number: routing/rank.go assumes one to compare loads), the kinds of agents and the ways to reach them; the defaults: failures until its circuit opens, how
//     long that stays open, how long it may be silent before it is offline (DefaultPresence)
//   - validate.go: the most capabilities, fallbacks, levels of escalation and the like of one registration; reserved.go: names that no agent may have; the form of a name is in event/name.go
//   - decide.go: who may set whose readiness, and which registrations are refused
//   - duty_table.go: when an agent may make itself ready again after an operator took it off duty
//   - circuit.go: which outcomes count against an agent, and which are recorded; circuit_table.go: when its circuit opens, probes and closes;
//     sender_circuit.go: the circuits for single senders, and when failures of several senders open the agent's circuit for all. Whether an offer passes the circuit is asked in usecase/routes/offer.go
//   - state.go: what readiness there is, and what an agent that missed its heartbeats counts as. The readiness of the server is
//     answered by httpapi/health.go
//   - event.go: the events of an agent; command.go: what can be asked of it; fold.go, fold_circuit.go: what each event changes
//
// Start reading at [State], then [Decide]. The circuit breaker: its table is [CircuitTable], its durations and counts are in spec.go, how
// it opens and closes in circuit_table.go; the circuits of single senders are in sender_circuit.go, by the same rules.
package agent
