// Package link lets tests break the network between programs on one machine, without any privilege: a program is told the address of a link
// in the place of that of another, and the link passes on what it may.
//
// Invariants:
//   - What a way does not pass on is kept, as TCP keeps what nobody acknowledges, and so is the end of a connection: nobody hears that the other is gone.
//   - Bytes arrive in order, or the connection is reset.
//
// Where to change what:
//   - link.go: one link, and what its two ways do to what is sent; network.go: a link for each pair of programs
//
// Start reading at [New].
package link
