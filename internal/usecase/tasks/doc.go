// Package tasks is the use cases of tasks and of their handoffs, one file per verb: create, send, accept, reject, complete and others.
//
// Invariants:
//   - Each verb is one decision on the stream of one task, and one entry.
//   - A caller without a part in a task finds no task.
//
// Start reading at [Tasks.Accept], then [Tasks.Create]; package taskstore tells how every change is made.
package tasks
