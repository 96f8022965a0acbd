// Package visibletest fills answers of the server with hostile text, for the tests of what shows them to people and models.
//
// Start reading at [Filler].
package visibletest
