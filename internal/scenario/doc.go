// Package scenario has the tests of the whole program: stories that run through all of it, on the embedded ledger and on
// a double that behaves like a distributed log; histories checked for linearizability; servers killed at random; and
// the benchmarks.
//
// It has tests only.
//
// Start reading at harness_test.go, then story_test.go.
package scenario
