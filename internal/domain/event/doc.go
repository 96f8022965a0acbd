// Package fact is what the record says of tasks: the events, and the words they are written in (closed sets,
// durations, limits, budgets, constraints). It has no rules about what may happen; those are in package handoff.
//
// Everything here is written to the ledger as JSON and read back for ever, and most of it is what the doors take
// and give, so it is also where the bounds of what comes from outside stand (bound.go).
//
// Invariants:
//   - Closed sets refuse unknown values when they are decoded.
//   - The JSON of an event is frozen: fields may be added, never changed. Anything else is a new version of the
//     event with an upcast.
//
// Start reading at [Event].
package event
