// Package workspaces is the use cases of workspaces: make, limit, archive, restore, list, show.
//
// Invariants:
//   - Admins of the workspace default see and change all workspaces. Everybody else sees the own one, if it may read anything there; any
//     other is as one that does not exist.
//   - A workspace that is made gets a first token, so that somebody can act in it.
//
// Start reading at [Workspaces].
package workspaces
