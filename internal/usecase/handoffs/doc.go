// Package sending decides handoffs: what a sender asks for becomes the events of a handoff, or a refusal. Use cases that hand
// a task on, by whatever name, and the server where it does so by itself, decide here, so that all handoffs are alike.
//
// Invariants:
//   - Nothing changes here: the events are the caller's to put on record. Only the probe of a half-open circuit is claimed.
//   - Nobody is offered an envelope that does not fit, unless a parent named it for a child: see [Sender.OfferChild].
//   - What goes to where the policy says is decided by the policy alone, and the decision is on record with the handoff.
//
// Start reading at [SendInput], then [Sender.Decide].
package handoffs
