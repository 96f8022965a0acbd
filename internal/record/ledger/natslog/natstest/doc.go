// Package natstest runs clusters of NATS servers for tests, inside the process of the test, on the loopback, with new directories.
//
// Tests that use it have the build tag outside.
//
// Where to change what:
//   - cluster.go: the nodes, and how they are stopped and started again; replica.go: what the replica of one node has
//
// Start reading at [Start].
package natstest
