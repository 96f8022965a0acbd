// Package cluster has the commands of the servers that share a record.
//
// Start reading at [Command].
package cluster
