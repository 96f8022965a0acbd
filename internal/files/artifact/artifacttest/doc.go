// Package artifacttest is the suite that every store of artifacts must pass.
//
// Invariants: the suite knows nothing of a store's technology; what only one has is tested beside it.
//
// Start reading at [Run].
package artifacttest
