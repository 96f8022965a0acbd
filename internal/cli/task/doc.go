// Package task has the commands of tasks: create, show, the verbs of a task's owner, and the dead letters.
//
// Invariants:
//   - The server, arguments and output are reached through [shell.Shell] alone.
//   - Task and epoch default to those that the calling program of trapeze work was given.
//
// Start reading at [Command], then create.go, show.go and owner.go.
package task
