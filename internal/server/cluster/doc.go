// Package cluster keeps what a server knows of the others that share its record, and whether it takes new work itself: it is the cluster of
// package usecase/cluster as one server knows it.
//
// Invariants:
//   - A server that is drained is not ready, answers calls that wait, leads nothing that another can lead, and serves all other calls.
//   - It takes work again when it is told so, or started again.
//
// Where to change what:
//   - cluster.go: what this server tells of itself, and what it does when it is told to take no new work
//   - gate.go: what tells calls that wait that the server is drained or stops
//   - lag.go: how far behind its views are, which is only shown. When a server is not ready is decided in usecase/positions/positions.go and
//     answered in httpapi/health.go
//   - name.go: the name by which the others know it
//
// Start reading at [Cluster].
package cluster
