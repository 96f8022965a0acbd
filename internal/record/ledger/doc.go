// Package ledger defines the record: one append-only log in one global order, from which everything else is derived. The
// audit trail is the database: a task, an agent or a token is the fold of its entries, and nothing changes except by an
// entry.
//
// An [Entry] is one decision of one principal: all its events or none. It belongs to a stream, such as one task, one agent or
// the reads of one principal, and [Ledger.Append] accepts it only if the stream still ends at the position that
// the writer expects. That compare-and-set is the only concurrency control in Trapeze.
//
// Events are named, versioned, opaque JSON here: the ledger does not depend on the domain. [Codec] converts the events of a
// domain to ledger events and back, and upcasts old versions.
//
// Each technology is a child package, such as sqlitelog, and must pass the tests of ledgertest.
//
// The bytes of an entry are a header line, a line feed, and the payload:
//
//	{"actor":{"for":[…],"principal":…,"token":…},"enc":"none","events":[{"name":…,"version":1}],"key":…,
//	 "key_id":…,"request":…,"stream":…,"time":"2026-01-02T03:04:05.000006Z","v":1,"version":1}
//	[data of the first event,data of the second]
//
// The header (shown here on two lines) is canonical JSON (RFC 8785) that omits empty optional fields; the data of events is
// compact JSON, stored unchanged. The examples under testdata are frozen.
//
// Invariants:
//   - When Append returns a position, the entry is on disk.
//   - The bytes of an entry ([Entry.Encode]) never change once appended; proofs hash exactly these bytes.
//   - Positions grow by at least one and never repeat; readers see entries in position order and miss none.
//
// Where to change what:
//   - validate.go: the limits of a stream's name and of an entry's header; compact.go: how deep the data of an event may be
//     nested
//   - encode.go, decode.go: the bytes of an entry; sealed.go: those of one whose content is encrypted, which package record/seal
//     does
//   - codec.go: how old versions of events are read; marshal.go, unmarshal.go: how the JSON of events is written and read without encoding/json, which does it for events with members of other kinds,
//     and reads what is not as this program writes it
//   - damaged.go: how followers go on after a damaged entry
//   - turn.go: how a call that waits for the disk lets others use the processors; who takes turns is decided in package
//     usecase/quota
//   - ledger.go: the contract, its errors and the largest entry; entry.go: what an entry has
//   - through.go: where a record ends for its readers, although reads may lag
//   - putaway.go: what a read of an entry answers whose segment is not there
//
// Start reading at [Ledger], then [Entry].
package ledger
