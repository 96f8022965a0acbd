// Package taskorder compares the entries of tasks with what the rules may write: their events in their order, the numbers in their streams, and
// what a task records of its children and dependencies with the streams of those tasks. A record that was made with the keys of a log, and not by its rules, differs here alone.
//
// Start reading at [Check]. Which events follow which is said in domain/task/order.
package taskorder
