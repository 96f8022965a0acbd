// Package last remembers which task each caller of the command line created or handed off last, in files of the data directory.
//
// Invariants: a caller is a file name without separators; a file appears whole.
//
// Start reading at [Save].
package last
