// Package natstest runs clusters of NATS servers for tests, inside the process of the test, on the loopback, with new directories.
//
// Tests that use it have the build tag outside.
//
// Start reading at [Start].
package natstest
