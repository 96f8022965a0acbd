// Package passage has the passages of a task: what became of it and of its child tasks between two envelopes, as the history of the next one tells it.
//
// Invariants:
//   - The words of others in a passage are bounded, and a text that was cut says so.
//
// Start reading at [Passage]; which events make one is in task/past.go.
package passage
