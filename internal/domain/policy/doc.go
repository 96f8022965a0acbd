// Package policy is the file in which operators say when a task is handed off, to whom, and whom it is escalated to: its
// text read into a [Policy] or into a list of [Problems], each with file, line, column and reason; its rules matched
// against a [Situation]; and the versions that came into force, as the fold of a stream.
//
// It does no I/O and reads no clock.
//
// Invariants:
//   - [Parse] gives a policy or problems, never both, and panics on nothing. A policy that was given is sound as far as the
//     file alone can tell; [Policy.Missing] says what the registry does not know.
//   - A Policy never changes. The same policy and situation give the same [Match], unless ctx ends.
//   - No expression costs more than MaxCost, and no matching more than MaxTotalCost. One that cannot be evaluated does not
//     match, and the Match says so.
//   - Chains are shared by all tasks and never used up.
//
// Start reading at [Policy] and [Parse], then match.go.
package policy
