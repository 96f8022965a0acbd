// Package workspace holds the rules for workspaces: who makes and archives them, and what each may use. One workspace is one
// stream (workspace/NAME); its [State] is the fold of its events.
//
// It never reads a clock: now is an input.
//
// Invariants:
//   - Only admins of the workspace default make, limit, archive and restore workspaces.
//   - The workspace default is there without having been made, and is never archived.
//   - A workspace that left for another server takes no change any more, for good; one that is arriving takes none before it has arrived.
//   - A workspace is never removed, and its name is never that of another.
//   - A limit is 0, which is none, or above 0.
//   - A command that would change nothing yields no events and no error, so every command may be repeated.
//
// Where to change what:
//   - state.go: which limits there are, their names, and what to do when one is reached
//   - decide.go: who makes, limits, archives and restores; event.go: what is recorded
//   - move.go: what leaves for another server, and which name may arrive from one
//   - what an archived workspace still allows: calls in usecase/caller/caller.go, entries in workspacestore/guard.go
//   - limits are enforced in usecase/workspacestore (workspacestore/guard.go), which counts agents, tasks and the like against them
//
// Start reading at [State], then [Decide].
package workspace
