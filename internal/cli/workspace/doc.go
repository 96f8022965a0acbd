// Package workspace has the commands of workspaces.
//
// Start reading at [Command].
package workspace
