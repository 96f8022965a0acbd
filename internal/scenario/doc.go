// Package scenario is the proof of the whole house: stories that run through all of it, on the embedded ledger and on
// a double that behaves like a distributed log; histories checked for linearizability; servers killed at random; and
// the benchmarks.
//
// It has tests only.
//
// Start reading at house_test.go, then story_test.go.
package scenario
