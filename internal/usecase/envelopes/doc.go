// Package envelopes makes the envelopes of tasks and gives them to their readers: [Sealer] composes what a sender hands over and
// packs what a receiver gets of it; [Envelopes] is the use cases.
//
// The source is the envelope that is sealed for a handoff. It holds all content, and is made from the newest envelope of the task: brought up
// to date with the task, with what the sender adds and with the memory, files and conversations that the sender names. A receiver gets the source itself or, where
// it has a token budget or the source holds what is omitted by default, a rendition: packed for that receiver, sealed, and naming
// the source as its parent. Nothing that a rendition omits is lost; the next source is composed from the last source.
//
// Invariants:
//   - Each source carries every constraint that binds the task at that moment, and so does each rendition.
//   - A rendition is never over its receiver's budget; what must survive is in it word for word, or it is refused.
//   - What cannot be had is named as a gap. It never stops a handoff.
//   - A read of content is recorded before it is answered.
//
// Start reading at [Sealer.Draft], then [Sealer.Rendition], then [Envelopes.Fetch].
package envelopes
