// Package know is the commands of what is known and carried: who is published to, what is remembered and was said, what
// goes into envelopes and what becomes of it on the way.
//
// Invariants:
//   - What a command asks the server, reads and prints goes through shell, so it is the same for all.
//   - Every command shows an example in its help.
//
// Start reading at [Commands], then channel.go.
package memory
