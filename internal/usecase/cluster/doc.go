// Package cluster has the use cases of the servers that share a record: show them, drain one, and forget one that is gone.
//
// Invariants:
//   - What is shown does not need all of them: it says what is not known.
//   - A server that can be stopped is named as such only if the others are known to go on without it.
//   - Only one that is gone is removed, and only if enough are left.
//   - What a node is told to do is recorded before it does it.
//
// Where to change what:
//   - verdict.go: whether a server can be stopped; remove.go: which one can be removed
//   - show.go: what is told of a node, and its states; cluster.go: when a node counts as silent, and how long a drain is waited for
//
// A server is called a node here, whatever the engine of the record. What one server knows of the others is in package server/cluster.
//
// Start reading at [Cluster.Show].
package cluster
