// Package frontend is what the front ends of one record in PostgreSQL share beside its entries: keys, when agents were last heard of, how far
// followers have come, and whose turn it is to do what one of them must do alone.
//
// Invariants:
//   - A key is made once, by the first front end that needs it: the others get the same.
//   - When an agent was heard of is exchanged as an age, and kept by the clock of the database: clocks of front ends that differ change nothing.
//   - A cursor never goes back, and what it says was done.
//   - At most one front end has the turn, as long as the database keeps its session; it may believe so for some seconds after it has lost that. So the
//     turn is only for what is harmless if two do it.
//
// Start reading at [Open].
package frontend
