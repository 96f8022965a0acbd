// Package courier is delivery: it follows the record, does what an entry makes necessary on other streams, runs the timers
// that are due, and notifies people. It decides nothing: it gives ordinary commands to package followup, and
// compare-and-set makes a command harmless that is repeated or that two nodes send.
//
// Invariants:
//   - Every entry is handled at least once, in order, across restarts: the position that was reached is saved, and
//     the entries after it are handled again.
//   - Clocks are data in the views. There is no timer that a restart could lose.
//   - A reaction or a timer that fails is tried again after a pause: courier.go. A notice that fails is sent again, a limited number of
//     times: notify.go. The rules decide at which time an offer is made again, and the
//     task holds that time.
//
// Start reading at [Courier.Run], then react.go (what follows from an entry) and notify.go (which notices people get).
package courier
