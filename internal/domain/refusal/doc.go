// Package refusal is the error type of all rules and use cases: a code from a closed set, a message (what was refused and
// why), and a hint (what to do next). Each API maps every code exactly once.
//
// Invariants: a refusal is immutable once made; a code outside [Codes] is a bug.
//
// Start reading at [Error].
package refusal
