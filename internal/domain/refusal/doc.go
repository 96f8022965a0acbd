// Package refusal is the one vocabulary in which every room says no: a code from a closed set, what was refused and
// why, and what to do next. Each surface maps every code exactly once.
//
// Invariants: a refusal is immutable once made; a code outside [Codes] is a bug.
//
// Start reading at [Error].
package refusal
