// Package advice rewrites the hints of the server as commands and flags; the server words them for every API.
//
// Invariants: a hint that is translated here is one that the server gives; the architecture test compares them.
//
// Start reading at [Of].
package advice
