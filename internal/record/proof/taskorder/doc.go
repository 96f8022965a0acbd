// Package taskorder compares the entries of tasks with what the rules may write: their events in their order, the numbers in their streams, and children and
// dependencies with the tasks that they are. A record that was made with the keys of a log, and not by its rules, differs here alone.
//
// Start reading at [Check]. Which events follow which is said in domain/task/order.
package taskorder
