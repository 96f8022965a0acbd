// Package natsfront keeps what front ends share in a bucket of JetStream beside the stream of their record, and exchanges what is volatile in plain messages.
//
// Invariants:
//   - Keys, cursors and the turn are compared and set: a replica that answers with an older value changes nothing.
//   - When agents and front ends were heard of is in memory alone. One that starts asks the others.
//   - The holder of the turn gives it up before another can take it, unless one of the two processes is suspended meanwhile.
//
// Where to change what:
//   - natsfront.go: the bucket and its keys; news.go, others.go: the messages; turn.go: how long a front end keeps the turn while JetStream does not answer
//
// Start reading at [Open].
package natsfront
