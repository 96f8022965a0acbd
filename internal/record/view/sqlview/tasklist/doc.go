// Package tasklist reads lists of tasks and their numbers from the tables that package sqlview writes.
//
// Invariants:
//   - Each filter is answered by an index, and reads no tasks that have ended if it does not ask for them.
//
// Where to change what:
//   - tasklist.go: which tasks a filter selects, dead letters included (tasks in the state parked), by which index and in which order
//   - read.go: how words are looked for in tasks; which tasks refer to an artifact
//   - claims.go: open claims, and handoffs that wait for an agent
//
// Start reading at [Lists], then [Select].
package tasklist
