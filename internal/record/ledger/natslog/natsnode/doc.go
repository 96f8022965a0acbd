// Package natsnode runs a NATS server with JetStream inside the process, as one node of a cluster that keeps a record.
//
// Invariants:
//   - Each write is synced before it is acknowledged.
//   - Clients connect inside the process alone: the server's port for clients is on the loopback, with a password that is made at each start.
//   - Other nodes are reached over TLS, with certificates on both sides, unless all addresses are on the loopback.
//
// The server is large: other packages reach it through package server, to which the program trapeze gives it, and tests of it have the build tag outside.
//
// Where to change what:
//   - options.go: what is refused; node.go: how the server is configured; election.go: when another leads; peers.go: which nodes the cluster has
//
// Start reading at [Start].
package natsnode
