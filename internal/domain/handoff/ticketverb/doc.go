// Package ticketverb says what a principal may do with a ticket.
//
// Invariants:
//   - Verbs are a closed set: see [All].
//   - A verb is listed if and only if the rules accept it from that principal at that time, and it changes something: the list is made by asking them.
//
// Start reading at [Of].
package ticketverb
