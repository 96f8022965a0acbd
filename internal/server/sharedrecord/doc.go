// Package sharedrecord opens a record that several servers share, in PostgreSQL or in NATS JetStream, moves records there, and gives what a backup is made of.
//
// Invariants:
//   - The rest of the server does not know which of the two it is: a [Record] gives the ledger, what front ends share, and the artifacts.
//   - A place that has a record is not filled.
//   - The entries are there all or none, at their positions, and were compared with what they were before. One that was not filled to its end is refused.
//
// Where to change what:
//   - place.go: which of the two it is, and what is asked of each; postgres.go, jetstream.go: how each is opened; majority.go: what a start waits for; replicas.go: which servers hold the replicas of a record that exists (how many a new one has:
//     natslog/options.go, also for the content of files)
//   - datadir.go: how a data directory says which shared record it follows
//   - followed.go: what of a record caches and views hear
//   - fill.go: how a record moves; parts.go: what a backup gets
//
// Start reading at [Open].
package sharedrecord
