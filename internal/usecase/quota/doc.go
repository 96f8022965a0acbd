// Package quota limits the open tasks that one principal has requested: approximately, so that it costs little.
//
// Invariant: a number that cannot be read refuses nothing.
//
// Start reading at [Quota].
package quota
