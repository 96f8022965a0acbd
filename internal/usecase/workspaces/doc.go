// Package workspaces has the use cases of workspaces: make, limit, archive, restore, list, show.
//
// Invariants:
//   - Admins of the workspace default see and change all workspaces. Everybody else sees only their own, if they may read anything there;
//     any other does not exist for them.
//   - A workspace that is made gets a first token, so that somebody can act in it.
//
// What a workspace may use is decided in domain/workspace, and enforced in package workspacestore (workspacestore/guard.go).
//
// Where to change what:
//   - create.go: how many workspaces there may be; set_limits.go, archive.go, restore.go: how each is changed; read.go: who sees which
//   - workspaces.go: what is shown of one, and of what it uses. Which limits there are is in workspace/state.go
//
// Start reading at [Workspaces].
package workspaces
