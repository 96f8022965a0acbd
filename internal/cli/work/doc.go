// Package work makes any program a receiver: it waits for handoffs to one agent, accepts them, runs the program on
// each, keeps the lease alive meanwhile, and completes or fails the task by what the program did.
//
// Invariants:
//   - A program runs only while its agent owns the task: when ownership is lost, its whole process group is stopped.
//   - A task that its program handed on, completed or failed by itself is left as it is.
//   - The program is never started through a shell, and gets its agent's token, never the worker's own credential.
//   - A program runs once on a task, or twice where its result was not what the task expects.
//   - Nothing is lost by a worker that dies: the lease ends and the task is recovered.
//
// Start reading at [Run], then job.go.
package work
