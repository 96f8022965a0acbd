// Package frontend is what the front ends of one record in PostgreSQL share beside its entries: keys, when agents were last heard of, how far
// followers have come, and which one of them has the turn: it does the work that one front end must do alone.
//
// Invariants:
//   - A key is made once, by the first front end that needs it: the others get the same.
//   - When an agent was heard of is exchanged as an age, and kept by the clock of the database: clocks of front ends that differ change nothing.
//   - A cursor never goes back, and what it says was done.
//   - At most one front end has the turn. It loses the turn when the database ends its session, and may notice that some seconds late. So the turn is
//     only for work that is harmless if two do it.
//
// Where to change what:
//   - frontend.go: how often front ends exchange what they know and look whether the turn is theirs, and the time limit of that; keys, and signs of life
//   - turn.go: how the turn is taken and given up; cursor.go: how far followers have come
//   - when the database ends the session of a front end that vanished is decided in package pglog (pglog/connect.go)
//
// Start reading at [Open].
package frontend
