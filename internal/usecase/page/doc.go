// Package page checks how much of a list is asked for.
//
// Invariant: a limit is never beyond what views give at once.
//
// Start reading at [Limit].
package page
