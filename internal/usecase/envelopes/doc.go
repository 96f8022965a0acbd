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
// Where to change what:
//   - pack.go: the token budget of a receiver: which share of its context window a prompt may take, and when anything is packed
//     at all. Which parts fit is chosen in package content/packing
//   - sealer.go: how many envelopes are remembered that fit as they are
//   - draft.go: what the next envelope says, and what is left out of one that is too large; steps.go: what the server adds to its history (handoffs, notes, answers, results of children), and how many bytes of a child's result it repeats; gather.go: the
//     memory items, files and turns in it; full.go: how long a history gets, which entries a full list loses, and how the history says so
//   - content.go: what a sender may add, what is refused in it (ask, summary, questions, data, references) by every API, and what a fact or
//     decision that replaces another must name; pins.go: what a sender may pin, and which wishes for packing are refused
//   - fitting.go: which candidates are passed over because an envelope does not fit them
//   - rendition.go: the constraints and permissions that a receiver's copy has, when these have changed since
//   - handover.go: what an envelope says if nobody writes one, after an owner is lost or a person takes over; again.go: if a
//     handoff is asked for again
//   - fetch.go: who may read an envelope, and when; parts.go: who may fetch what it omits, and how large a page is
//   - share.go: what the reader of a share gets; what a sender sees beforehand is in tasks/preview.go
//   - The order and the headings of a prompt are in envelope/render.go.
//   - author.go: how much one author may have in the envelopes of a task, and how much an agent may pin; cold.go: what a cold handoff leaves out
//   - ahead.go: what is read before the receiver accepts; sheet.go: what an answer has beside an envelope
//
// Start reading at [Sealer.Draft], then [Sealer.Rendition], then [Envelopes.Fetch].
package envelopes
