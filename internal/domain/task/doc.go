// Package task is the state of a task: its owner, its handoff in flight, its limits, children and tickets. It is the fold
// of the task's events; package handoff decides what may happen next.
//
//	Fold(task, event) -> task
//
// Fold never refuses, because events have happened. A [Task] is immutable: Fold returns a new value and shares what did
// not change, so tasks may be cached and read from many goroutines.
//
// Invariants, proved with those of the rules by the random stories of package handoff:
//
//   - A task's state and its handoff's stage change only along the tables, [TaskTable] and [HandoffTable].
//   - At most one agent owns a task, and every change of owner raises the epoch.
//   - Folding the same events gives the same task, on every machine.
//
// Start reading at table.go (every state and every way between them), then [Task], then [Fold].
package task
