// Package bound is what the owner of a task may not do: call off the handoff by which an operator takes it away, and pass on permissions that the task does not have.
//
// Start reading at [RequireOwnRequest].
package bound
