// Package handoffs decides handoffs: what a sender asks for becomes the events of a handoff, or a refusal. Every use case that
// hands a task on decides here, and so does the server where it hands on by itself, so that all handoffs are alike.
//
// Invariants:
//   - Nothing changes here: the caller appends the events. Only the probe of a half-open circuit is claimed.
//   - No agent is offered an envelope that does not fit, unless a parent named it for a child: see [Handoffs.OfferChild].
//   - A handoff to "auto" is decided by the policy alone, and the decision is recorded with the handoff.
//
// Start reading at [SendInput], then [Handoffs.Decide]; recovery.go chooses who replaces a lost owner. The verbs of handoffs (send,
// accept, reject, confirm) are in package tasks.
package handoffs
