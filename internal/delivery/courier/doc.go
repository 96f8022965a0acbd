// Package courier is delivery: it follows the record and does what must follow on other streams, and it lets the
// clocks do what they do. It decides nothing; it gives ordinary commands through app, which compare-and-set makes
// harmless when they are repeated or when two nodes send them.
//
// Invariants:
//   - Every entry is reacted to at least once, in order, across restarts: the position that was reached is saved, and
//     everything after it is done again.
//   - Clocks are data in the views. There is no timer that a restart could lose.
//
// Start reading at [Courier.Run].
package courier
