// Package random has random numbers for salts, tokens and jitter.
//
// Invariant: a source can be used by many goroutines, even if its reader cannot.
//
// Start reading at [Source].
package random
