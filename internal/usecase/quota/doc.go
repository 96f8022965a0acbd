// Package quota limits how many open tasks one principal has requested, and how many items of one sender wait for one receiver or at one
// desk. The numbers are approximate, so that they cost little. It also lets principals take turns on the processors, and senders in inboxes.
//
// Invariant: a number that cannot be read refuses nothing.
//
// Where to change what:
//   - quota.go, check.go: how many open tasks one principal may have requested (how many an agent works on at once: agent/spec.go)
//   - waiting.go: how many items of one sender may wait for one receiver, or at one desk, and after how long a refused sender is to try again
//   - rate.go: how calls and bytes a minute are counted for work that costs money; the limits themselves are where a rate is made, such as memories/meaning.go
//   - work.go, share.go: how many calls of one principal are worked on at once, and how many may wait for a turn on the
//     processors
//   - turns.go: which senders had their turn in an inbox; the order itself is in view/turns.go
//   - holds.go: for how long a reader that is shown an open claim has it before the others, and how many have it after that
//
// Start reading at [Quota] and [Waiting].
package quota
