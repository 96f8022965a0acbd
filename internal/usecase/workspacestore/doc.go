// Package workspacestore gives other use cases the workspaces of a ledger, and guards the limits of workspaces.
//
// Invariants:
//   - Every entry of a principal passes the guard, whatever use case makes it: [Store.Guard] is the ledger that the use cases write to.
//   - In an archived workspace nothing is written but the records of reads and refusals, what a read notes in a task, changes of tokens and of the workspace itself, and what
//     the server does by itself. Which calls are refused before that: usecase/caller/caller.go.
//   - The check of a limit costs a workspace without limits nothing but a look at a map. Numbers come from the views, at most once a second,
//     and what is written here is added in between; so a limit may be exceeded by what several front ends let through in a second.
//   - A number that cannot be read refuses nothing.
//
// Where to change what:
//   - guard.go: which entries add to which limit, and are refused. What a limit counts is in the views: which tasks are open (dead letters are) in
//     sqlview/write_task.go, agents and entries of a day in sqlview/workspace.go; bytes of artifacts in their store; store.go: how long the state of a workspace, and the numbers counted for its limits, are used before they are read again
//
// Start reading at [Store.Guard].
package workspacestore
