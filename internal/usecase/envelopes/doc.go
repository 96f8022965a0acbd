// Package sealing makes the envelopes of tasks: it composes what a sender hands over, and packs what a receiver is
// given of it.
//
// What is sealed for a handoff, the source, holds all that is said: the newest envelope of the task brought up to date
// with the task, with what the sender adds and with what it asks for from elsewhere. What a receiver gets is the source
// itself or, where it has a token budget or the source holds what is left out by default, a rendition: packed for that
// receiver, sealed, and naming the source as its parent. Nothing that a rendition leaves out is lost; the next source is
// composed from the last source.
//
// Invariants:
//   - Each source carries every constraint that binds the task at that moment, and so does each rendition.
//   - A rendition is never over its receiver's budget; what must survive is in it word for word, or it is refused.
//   - What cannot be had is named as a gap. It never stops a handoff.
//   - What is sealed comes back byte for byte.
//
// Start reading at [Sealer.Draft], then [Sealer.Rendition].
package envelopes
