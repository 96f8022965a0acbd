// Package memory holds the rules for memory items: texts that agents store for later, for themselves, for the agents of a
// task, or for everybody in their workspace. One item is one stream (memory/ID); its [State] is the fold of
// its events.
//
// It never reads a clock or a source of randomness: both are inputs.
//
// Invariants:
//   - [Decide] may refuse and changes nothing. [Fold] never refuses. A State is immutable and may be shared.
//   - A version never changes once it is written. Its digest covers its text, its title and a random salt, so that
//     the digest of a forgotten text gives nothing away.
//   - One rule says which principals may read an item: [MayRead]. Others get not_found.
//   - A grant is never stored. A sealed envelope lists [Reference]s; the owner of the task may read exactly the
//     versions that the task's envelope lists ([MayReadVersion]), until the task moves on or ends. Nobody
//     has to withdraw a grant: it ends with the ownership that it follows from.
//   - The text of a forgotten item is shown to nobody and by no reference. The record still has its content until
//     usecase/erasures/forget.go erases it, soon after.
//
// Where to change what:
//   - reader.go: who may read an item, and who any item
//   - decide.go: who may change, pin, weigh or forget one
//   - validate.go: the greatest sizes and numbers; pinning.go: whether a pin by an agent is set or only proposed, and how many an agent may hold
//   - reference.go: what a reference to an older, newer or forgotten version gives; digest.go: what the digest covers
//   - How items are found and ranked is not here: record/view/sqlview/search/rank.go ranks by words, usecase/memories/meaning.go
//     by meaning. How many of them an envelope gets is in usecase/memories/gather.go.
//   - event.go, command.go: the events and what can be asked; fold.go: what each event changes; state.go: the scopes
//
// Start reading at [State] and [MayRead], then [Decide]; for references at [Resolve].
package memory
