// Package work makes any program a receiver: it waits for offers to one agent, accepts them, runs the program on each task, renews the
// lease meanwhile, and completes or fails the task according to how the program exits.
//
// Invariants:
//   - A program runs only while its agent owns the task. When ownership is lost, its whole process group is stopped.
//   - A task that its program handed off, completed or failed itself is left as it is.
//   - The program is never started through a shell. It gets its agent's token, never the worker's own credential.
//   - A program runs once on a task, or twice if its result is not what the task expects.
//   - Nothing is lost with a worker that dies: the lease expires, and the task is recovered.
//
// Where to change what:
//   - job.go: how often the lease is renewed, how often a program is run for one task, what it is told before the second run, and what ends the task as failed
//   - offer.go: which offers are taken, what the preview program decides, and the environment of a program
//   - work.go: the options, and the longest time between two heartbeats
//   - process.go: how a program is stopped (how long it has until SIGKILL is --grace, by default DefaultGrace in work.go); group_unix.go, group_linux.go: with which processes
//   - output.go: how much output counts as the result, and which lines are progress
//   - notice.go: how a worker learns that a task was taken away
//   - scratch.go, guard.go: what is cleared up after a worker that was killed; left_linux.go, left_unix.go: how its programs are
//     found
//   - mine_unix.go: which files belong to the user of the worker; help.go: the help of the command
//
// Start reading at [Run], then offer.go (how an offer is accepted, and the environment of programs), job.go (one task and its
// result) and process.go (how a program starts and ends).
package work
