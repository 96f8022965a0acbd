// Package ticketlist has the table of tickets in the views' database, and which rows of it a list has, in which order. Package sqlview writes it.
//
// Invariants:
//   - A list is read from an index in its order. Only that of one task is sorted.
//
// Where to change what:
//   - ticketlist.go: the columns and indexes, the filters and the orders of lists
//   - read.go: how lists are read, senders in turn, and what is counted
//
// Start reading at [Desk], then [Select].
package ticketlist
