// Package artifacts has the use cases of artifacts: who may put and fetch files, what an envelope may refer to, and what is swept.
//
// Invariants:
//   - Each principal that puts an artifact is recorded, once while it is kept; every fetch before its first byte; and every removal.
//   - An artifact is for the principals that put it, for those who may read the envelopes of a task that refer to it, and for
//     those who may read anything. For everybody else it is "not found".
//   - An envelope refers to nothing that does not exist: each artifact is checked, and protected
//     from sweeps, before the envelope is sealed.
//   - Nothing is swept on the word of views that lack entries.
//
// Where to change what:
//   - artifacts.go: how long a file is kept that nothing refers to; sweep.go: when that is deleted; drop.go: deletion after an
//     erasure
//   - busy.go: how many transfers there may be at once; their slowest speed is in httpapi/artifacts.go
//   - get.go: who may read a file, and what is said of one that was erased; check.go: which files an envelope may refer to
//   - put.go: what is refused while a file is stored. The default quota is in artifact/quota.go
//
// Start reading at [Artifacts.Put], then get.go. How long unreferenced files are kept is in artifacts.go, their removal in sweep.go.
package artifacts
