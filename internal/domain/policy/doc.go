// Package policy is the policy file of a workspace: operators write in it when a task is handed off, to which agent, and
// where it escalates to. The package parses the text into a [Policy] or a list of [Problems], each with file, line, column
// and reason; matches the rules against a [Situation]; and folds the stream of the versions that came into force.
//
// It does no I/O and reads no clock.
//
// Invariants:
//   - [Parse] gives a policy or problems, never both, and panics on nothing. A policy that Parse returns has no fault that the
//     file alone can show; [Policy.Missing] lists the targets that do not exist.
//   - A Policy never changes. The same policy and situation give the same [Match], unless ctx ends.
//   - No expression costs more than MaxCost, and no matching more than MaxTotalCost. One that cannot be evaluated does not
//     match, and the Match says so.
//   - Chains are shared by all tasks and never used up.
//
// Start reading at [Policy] and [Parse], then match.go.
package policy
