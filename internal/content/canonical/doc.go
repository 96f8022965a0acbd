// Package canonical writes JSON in the one form that RFC 8785 defines, so that equal documents have equal bytes and digests.
//
// It is implemented here because the general library takes about 30 µs per KiB, on the path of every handoff; the tests
// compare the two.
//
// Where to change what:
//   - canonical.go: what is refused, and the order of members; number.go, text.go: how numbers and texts are written
//     (plain.go: how far a text needs no escape)
//
// Start reading at [JSON].
package canonical
