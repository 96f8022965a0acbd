// Package viewtest is the test suite of every view store: stories that use the rules and a real ledger, and random ones
// compared with a model that folds everything again.
//
// Invariants:
//   - The suite asserts only what the contract says; it waits for positions, so that a store may lag.
//   - It resolves conflicts and unknown outcomes, so that a ledger may have them.
//
// Where to change what:
//   - suite.go: the list of all stories; a story of a noun is in the file of the noun, such as stories_ticket.go, and one of
//     tasks or handoffs in stories.go
//   - random.go, random_memory.go: random stories, and the model that they are compared with
//
// Start reading at [Run].
package viewtest
