// Package know serves what is known and carried: memory, conversations, channels, files, and the envelopes of tasks.
//
// May import: door, app, knowledge, roster, the domain's types, drift, artifact, huma, net/http.
//
// Invariants:
//   - A route reads its input, calls one use case and writes what it answers; nothing is decided here.
//   - An artifact comes and goes in pieces, at a pace that a dead line does not keep; a damaged one never ends well.
//
// Start reading at [Routes].
package know
