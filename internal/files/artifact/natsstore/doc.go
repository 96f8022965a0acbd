// Package natsstore stores artifacts in NATS JetStream, which any number of processes share: each in a key of a bucket, with the
// content in messages of at most 256 KiB in a stream beside it.
//
// Invariants:
//   - Content that is being put has a name of its own, and belongs to no artifact until its key says so, which is compared and set. So an artifact is
//     complete, whatever ends.
//   - The memory for content on its way is one piece for each call.
//   - Content that was put again is compared with what is there, and takes its place only if that was damaged: readers go on.
//   - Content that belongs to nothing, since a process ended while it was put, is deleted by a later sweep.
//   - Quotas are exact at each front end. Two at which files are put at the same moment may together exceed one by as much.
//
// Where to change what:
//   - natsstore.go: how content is put; reader.go: how it is read; sweep.go: what is deleted; usage.go: what counts for the quota
//
// Start reading at [Open].
package natsstore
