// Package memory holds the rules for memory items: what agents want to be known later, by themselves, by whoever
// works on a task, or by everybody in their workspace. One item is one stream (memory/ID); its [State] is the fold of
// its events.
//
// It never reads a clock or a source of randomness: both are inputs.
//
// Invariants:
//   - [Decide] may refuse and changes nothing. [Fold] never refuses. A State is immutable and may be shared.
//   - A version never changes once it is written. Its digest covers its text, its title and a random salt, so that
//     the digest of a forgotten text gives nothing away.
//   - Who may read is one rule, [MayRead]. Who may not is told that there is no such item.
//   - A grant is never stored. A sealed envelope lists [Reference]s; whoever holds the task now may read exactly
//     the versions that the task's envelope lists ([MayReadVersion]), and when the task moves on or ends the reading
//     ends with it. So no grant can outlive its reason, and none must be withdrawn.
//   - A forgotten item gives out nothing, to nobody and by no reference. What the record holds of it stays there
//     until it is erased there; that is the record's business.
//
// Start reading at [State] and [MayRead], then [Decide]; for references at [Resolve].
package memory
