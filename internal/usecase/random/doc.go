// Package random is random numbers for salts, tokens and jitter.
//
// Invariant: a source can be used by many goroutines, whatever its reader can.
//
// Start reading at [Source].
package random
