// Package natsnode runs a NATS server with JetStream inside the process, as one node of a cluster that keeps a record.
//
// Invariants:
//   - Each write is synced before it is acknowledged.
//   - Clients connect inside the process alone: the server's port for clients is on the loopback, with a password that is made at each start.
//   - A node with a damaged message in its replica, or a damaged snapshot of a Raft group, does not start.
//   - Other nodes are reached over TLS, with certificates on both sides, unless all addresses are on the loopback.
//
// The server is large: other packages reach it through package server, to which the program trapeze gives it, and tests of it have the build tag outside.
//
// Where to change what:
//   - options.go: which options are refused, and the name that a node keeps; node.go: how the server is configured and started (it returns before the other
//     nodes are reached); damage.go: a damaged replica is refused; snapshot.go: and a damaged snapshot of a Raft group; revive.go: what goes on after a full disk; election.go: when another leads; watch.go: what is done about a leader that has died, and about a replica that takes long to take back entries; peers.go: what a node asks the others: which nodes the cluster has. What is done or refused once they
//     are there is in server/sharedrecord/jetstream.go
//
// Start reading at [Start].
package natsnode
