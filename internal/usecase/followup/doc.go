// Package followup does what follows from an entry, or from the time, on other streams: children are created, parents and
// dependents told, clocks run, claims joined, agents relieved. The courier calls it; surfaces never do.
//
// Invariants:
//   - Everything may be repeated: what was done already is not done again.
//   - After a refusal that every repeat would get, nothing is tried again. After any other error the courier calls again.
//
// Where to change what:
//   - tick.go: what a due clock of a task needs besides the rules; these are in handoff/tick.go
//   - children.go: how children are created, and how those are cancelled that their parent no longer needs (which, and when:
//     handoff/end_child.go); children_of.go: that a caller waits until its children are there; end.go: what parents and dependents are told
//   - bind.go: how a constraint of a parent reaches its open children
//   - dependencies.go: when a task that waits for others sets out
//   - take_up.go: tasks whose requester was removed
//   - claims.go: which open claims an agent joins when it becomes ready; wake.go: which offers go on when a circuit closes
//   - arrive.go: whether a workspace moves here, so that nothing follows from its entries yet
//   - relieve.go: which offers leave an agent that holds too much
//   - presence.go: when an agent without a sign of life goes offline; report.go: which outcomes circuits are told of
//
// Start reading at [FollowUp.Tick], then [FollowUp.CreateChildren].
package followup
