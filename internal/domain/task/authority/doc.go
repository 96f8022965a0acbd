// Package authority decides who may act on a task, and as what: its owner under the current epoch, its source, operators, and the agents that an offer is open to; on which ticket;
// and which permissions an owner can pass on. Each function refuses all others. What they may do in which state is decided in package handoff.
//
// Where to change what:
//   - act.go: who acts as the owner or the source of a task, and under which epoch
//   - offer.go: which agent may answer an offer, and why one is over; late.go: what an agent reads that answers too late
//   - ticket.go: which ticket is open, and of which kind it has to be
//   - permission.go: which permissions can be passed on
//
// Start reading at [RequireOwner] and [RequireSource].
package authority
