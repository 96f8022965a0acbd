// Package followup does what follows from an entry, or from the time, on other streams: children are created, parents and
// dependents told, clocks run, claims joined, agents relieved. The courier calls it; surfaces never do.
//
// Invariants:
//   - Everything may be repeated: what was done already is not done again.
//   - After a refusal that every repeat would get, nothing is tried again. After any other error the courier calls again.
//
// Start reading at [FollowUp.Tick], then [FollowUp.CreateChildren].
package followup
