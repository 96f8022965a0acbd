// Package task has the commands of tasks: create, show, the verbs of a task's owner, and the dead letters.
//
// Invariants:
//   - The server, arguments and output are reached through [shell.Shell] alone.
//   - Task and epoch default to those that the calling program of trapeze work was given.
//
// Where to change what:
//   - create.go: when a task is started, sent or waits; import.go: which flags a document leaves no room for
//   - owner.go: progress, complete, fail and their flags
//   - wait.go: when a task counts as at rest; show.go: what is printed of a task; list.go: the columns of a list; status.go: what the overview shows: which tasks under which heading, the tickets, and how many agents
//   - dead_letter.go: the commands of dead letters, and which commands are suggested after a spent budget; budget.go: raising one
//   - standing.go: what a task waits for, in a line, and the command that helps; constraint.go: the commands that set a constraint
//     and lift it
//
// Start reading at [Command], then create.go, show.go and owner.go.
package task
