// Package refusal is the error type of all rules and use cases: a code from a closed set, a message (what was refused and
// why), and a hint (what to do next) with what helps as data. Each API maps every code exactly once.
//
// Invariants: a refusal is immutable once made; a code outside [Codes] is a bug.
//
// Where to change what:
//   - refusal.go: the codes, and what a refusal has; its status is in endpoint/problem.go, its exit code in shell/errors.go, both by code
//   - clip.go: how long texts of others in a message are cut; counted.go: numbers with their nouns
//
// Start reading at [Error].
package refusal
