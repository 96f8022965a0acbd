// Package workspace is the commands of workspaces.
//
// Start reading at [Command].
package workspace
