// Package artifacttest is the test suite of every artifact store.
//
// Invariants: the suite asserts only the contract; tests of one implementation are in its package.
//
// Start reading at [Run].
package artifacttest
