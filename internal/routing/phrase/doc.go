// Package phrase parses plain-English instructions about handing work on, such as "hand this off to AGENT": one intent of a
// closed set, with its agent, task, capability and reason.
//
// It has no access to agents and tasks, so it does not check that a name exists.
//
// Invariants:
//   - A sentence is understood as a whole or not at all. Extra words, a "not", an "if", a question or a second action make it
//     a refusal that names the obstacle.
//   - Names are taken literally. Nothing is guessed, joined or corrected; words of the grammar are names only in quotes.
//   - A sentence with two readings is a refusal that lists both.
//   - Each result has one canonical sentence, which parses to the same result.
//
// Where to change what:
//   - phrase.go: the intents, what a sentence can name, and the longest sentence; grammar.go: the sentences, and the words that count for
//     nothing; pattern.go: how they are written down
//   - parse.go: when a sentence has two readings; word.go: which marks end a clause
//   - explain.go: what is said of a sentence that is not understood
//   - What a sentence does, and its confirmation, is decided in package usecase/phrases.
//
// Start reading at [Parse], then grammar.go: the grammar is a table.
package phrase
