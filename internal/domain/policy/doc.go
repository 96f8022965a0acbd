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
// Where to change what:
//   - parse.go: what is a fault in a policy file; check_chain.go: the faults of escalation chains and fallbacks; missing.go:
//     targets that do not exist
//   - policy.go: the fields of the file, such as the conditions of a rule ([When]), and their greatest number and size. A new condition
//     begins here and is compared in match.go; what it looks at begins in situation.go
//   - match.go: how the conditions of a rule are compared with a situation, and which texts keywords are looked for in
//   - situation.go: what conditions and expressions can see of a task, its holder and its envelope; a new variable begins there, is
//     named in expr.go, which also bounds the costs of expressions, and is filled in usecase/policies/decider.go
//   - llm.go, embeddings.go: which models a file can name, and their bounds; they are called in package routing/openai
//   - alerts.go: what a file can change of an alert; the thresholds themselves are in alert/definitions.go
//   - retention.go: the rules of retention that a policy file can have; usecase/erasures/retain.go erases by them
//   - read.go, problem.go: how a fault is reported, with line and column
//   - state.go: what is recorded when a file comes into force
//
// Start reading at [Policy] and [Parse], then match.go.
package policy
