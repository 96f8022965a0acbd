// Package shelf is the use cases of artifacts: who may put and fetch what, what an envelope may refer to, and what is
// swept away.
//
// Invariants:
//   - Who put an artifact, and that it was let go, is on record; so is every fetch, before its first byte.
//   - An artifact is for whoever put it, for those who may read what a task's envelopes say that refer to it, and for
//     those who may read anything. For everybody else it is not there.
//   - An envelope refers to nothing that is not there: what it is to refer to is checked and spared from sweeps first.
//   - Nothing is swept on the word of views that do not have the whole record.
//
// Start reading at [Shelf], then get.go.
package artifacts
