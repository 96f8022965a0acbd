// Package natslog implements the ledger in one stream of NATS JetStream, which any number of processes share: the front ends.
//
// An entry is one message; its subject is made of the name of its stream, and its position is its sequence in the JetStream stream. The server
// compares and sets by subject. What it answers is not enough for three promises of the ledger; natslog keeps them like this:
//
//   - An append without an answer may have happened. Each has a number of its own in its header: natslog reads which message follows the
//     expected one, and sends the same again if there is none. Of two that arrive the comparison accepts one.
//   - A leader that was cut off goes on answering reads for some seconds. What it answers is used only while it is known that no other can have
//     been elected: each replica waits at least two seconds for a leader that lives (MinElection in lease.go; twice that in a nats-server that runs by itself), and the leader says when it heard of a majority. See ADR 23 for what is left.
//   - A reader must not skip an entry that its replica lacks. Sequences have no gaps, since nothing is ever deleted: a gap is read from the
//     leader, and damage if it is there, too.
//
// Invariants:
//   - No append returns before a majority of the replicas has stored the entry. A stream with fewer than three replicas, servers that do not sync
//     each write, and a stream that deletes or discards entries are refused.
//   - Entries that record reads are appended without an expected position. They get one here, that of the newest such entry, so that their times are in order.
//   - Entries are in frames, package frame, without a position, which is known only afterwards; the checksum includes the entry before in its stream.
//   - A stream that ends before a position that is known to have been acknowledged has lost entries: nothing is written until the process is
//     started again, so that no position is given twice. Nothing is written either if another stream is in the place of this one.
//   - Followers get entries as the front ends that appended them tell them, in plain messages after the answer of the server: a majority had stored them. The order is that of
//     positions, without gaps. What was not told, was told in two ways, or cannot be decoded is read from a replica.
//   - Nothing waits in the client while the connection is lost: an append fails, and is not sent later.
//
// Where to change what:
//   - options.go: the defaults, such as how many replicas a new stream has and how often the end of the record is looked up, and time limits; connect.go: which URLs are refused, and how connections are made
//   - sync.go: how servers that do not sync are refused; create.go: the configuration of the stream, and which ones are refused; subject.go: how names become subjects
//   - append.go: what follows from each answer to an append; stuck.go: when a leader that takes none for a stream is asked to step down; lane.go: the records of reads
//   - log.go: how a record is opened; errors.go: which errors of JetStream mean that another entry was first
//   - read.go: reads; ride.go: when the leader is not asked where the record ends; lease.go: how long what a leader answers is used; election.go: what happens when there is another; get.go: the requests for messages; request.go: how
//     answers are waited for
//   - copy.go: how a record of another ledger moves here; bucket.go: buckets beside the record
//   - groups.go: where the replicas of an existing stream are, and who leads them
//   - listen.go: how followers learn of entries, in rounds whose pace package pace decides, and how long one that is late is waited for; news.go: what front ends tell each other of entries, and how
//     much of it is kept; health.go: when writing stops
//
// Start reading at [Open], then append.go and read.go.
package natslog
