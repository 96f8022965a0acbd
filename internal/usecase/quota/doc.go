// Package quota bounds the open tasks that one principal has requested, cheaply and about.
//
// Invariant: a number that cannot be read refuses nothing.
//
// Start reading at [Quota].
package quota
