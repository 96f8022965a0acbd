// Package tasks is the use cases of tasks and of their handoffs, one file per verb: create, send, accept, reject, complete and others.
//
// Invariants:
//   - Each verb is one decision on the stream of one task, and one entry.
//   - A caller without a part in a task finds no task.
//
// The JSON of a task, of a handoff and of an inbox item as callers read it is defined by the HTTP API (httpapi/tasks.go); what a list shows of a
// task is in package view.
//
// Start reading at [Tasks.Accept], then [Tasks.Create]; package taskstore tells how every change is made.
package tasks
