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
//     versions that the task's envelope lists ([MayReadVersion]), until the task moves on or ends. So no grant can outlive its reason, and none needs to be withdrawn.
//   - A forgotten item gives out nothing, to nobody and by no reference. What the record holds of it stays there
//     until it is erased there; that is the record's business.
//
// Start reading at [State] and [MayRead], then [Decide]; for references at [Resolve].
package memory
