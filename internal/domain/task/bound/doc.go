// Package bound is what the owner of a task may not do: call off what an operator requested, and pass on permissions that the task does not have.
//
// Start reading at [RequireOwnRequest].
package bound
