// Package history has the use cases of the past: the trail of a task, exports, what each hop kept and dropped, and the stream of
// events as they happen. The HTTP API and the command line group them as "audit".
//
// Invariants:
//   - A read is recorded before the answer.
//   - Nothing here changes a task.
//
// Where to change what:
//   - trail.go, trail_around.go: how long a trail is in one document; what each reader sees of it is in task/visibility.go, what
//     is blanked in view/withhold.go; how many events a page has over MCP: mcpapi/resource/history.go
//   - export.go: what an export has, and how many entries are read at a time; its formats are in view/export.go; export_proofs.go: an export of proofs, whose text is made in package record/proof, and what it counts
//   - told.go: which events each caller is told of as they happen; which tickets a person may see is decided in desk/reader.go
//   - document.go: the parts of a handoff's record; drift.go: which envelopes are compared, and package content/drift how
//   - read.go: who may read checkpoints, keys and receipts; check.go: what is said of a checkpoint that somebody kept
//   - rotate_key.go, resume_rotation.go: when the key that signs changes
//   - follow.go: how a stream of events goes on from a position (how many entries it is given at once: sqlitelog/options.go, and those of the other engines)
//
// Start reading at [History.Trail], then [History.Export]; the formats of exports are in record/view/export.go.
package history
