// Package courier is delivery: it follows the record, does what an entry makes necessary on other streams, runs the timers
// that are due, and notifies people. It decides nothing: it gives ordinary commands to package followup, and
// compare-and-set makes a command harmless that is repeated or that two servers send.
//
// Invariants:
//   - Every entry is handled at least once, in order, across restarts: the position that was reached is saved, and
//     the entries after it are handled again.
//   - Clocks are data in the views. There is no timer that a restart could lose.
//   - A reaction or a timer that fails is tried again after a pause: courier.go. A notice that fails is sent again, a limited number of
//     times: delivery/notify/follow.go. The rules decide at which time an offer is made again, and the task holds that time.
//
// Where to change what:
//   - courier.go: the pauses after an error, how many timers run at once, how soon an agent that has gone silent is noticed
//   - react.go: which events make something happen on other streams; what that is, is done in package usecase/followup
//   - arrive.go: what follows when a workspace that moved here has arrived
//   - notify.go: which events of tickets people are notified of; the text is in notify/ticket.go, how often one notice is tried in
//     notify/follow.go. Notices that agents find in their inboxes are in task/notice.go
//   - settle.go: when a test's clock may move on
//
// Start reading at [Courier.Run], then react.go (what follows from an entry) and notify.go (which notices people get).
package courier
