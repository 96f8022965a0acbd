// Package phrase reads what people and agents say in plain English about handing work on, and answers exactly what it
// understood: one intent of a closed set, with its agent, task, capability and reason.
//
// It knows no agents and no tasks, so whether a name exists is not decided here.
//
// Invariants:
//   - A sentence is understood as a whole or not at all. Words that are left over, a "not", an "if", a question or a second
//     action make it a refusal that says what was in the way.
//   - A name is what stands there. Nothing is guessed, joined or corrected; words of the grammar are names only in quotes.
//   - Two readings of one sentence are a refusal that lists both.
//   - What was understood has one canonical sentence, and reading that gives the same again.
//
// Start reading at [Parse], then grammar.go: what can be said is a table.
package phrase
