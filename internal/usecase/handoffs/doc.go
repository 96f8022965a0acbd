// Package handoffs decides handoffs: what a sender asks for becomes the events of a handoff, or a refusal. Every use case that
// hands a task on decides here, and so does the server where it hands on by itself, so that all handoffs are alike.
//
// Invariants:
//   - Nothing changes here: the caller appends the events. Only the probe of a half-open circuit is claimed.
//   - No agent is offered an envelope that does not fit, unless a parent named it for a child: see [Handoffs.OfferChild].
//   - A handoff to "auto" is decided by the policy alone, and the decision is recorded with the handoff.
//
// Where to change what:
//   - decide.go: the order of the steps of a handoff, and how much one fan-out may send
//   - route.go: agents before desks, subscribers of a channel, and when people are asked instead
//   - auto.go: what a decision of the policy ("auto") changes of a send; the decision itself is in routing/decide.go
//   - recovery.go: who replaces an owner that is lost, in which order, and with which envelope. When an owner counts as lost is
//     in task/clock.go
//   - children.go: which agents get a child task of a fan-out or delegation; offer_child.go: the first offer of a child
//   - shedding.go: to whom an offer moves from an agent with too much to do
//   - again.go: what of a failed handoff is asked for again by a replay. The repeated offers of one handoff are decided in
//     handoff/offer.go
//   - foresee.go: what a preview says would stop a send
//   - input.go: which fields of a send belong together
//
// Start reading at [SendInput], then [Handoffs.Decide]; recovery.go chooses who replaces a lost owner. The verbs of handoffs (send,
// accept, reject, confirm) are in package tasks.
package handoffs
