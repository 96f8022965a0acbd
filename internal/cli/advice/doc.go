// Package advice says the hints of the server, which is called in several ways, in terms of commands and flags.
//
// Invariants: a hint that is translated here is one that the server gives; the architecture test compares them.
//
// Start reading at [Of].
package advice
