// Package desk is the commands of people in the loop: asking them, and what they do about the tickets they are asked by.
//
// Invariants:
//   - What a command asks the server, reads and prints goes through shell, so it is the same for all.
//   - Every command shows an example in its help.
//
// Start reading at [Commands], then ask.go.
package ticket
