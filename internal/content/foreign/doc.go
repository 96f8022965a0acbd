// Package foreign reads the handoff documents of other systems, so that their users can move over: it turns one into
// what a task of ours is made of.
//
// Four formats are understood, told apart by their fields: a handoff document with an audit trail, a handoff context
// with facts and decisions, a memory envelope with references and a token limit, and an envelope of our own, of any major
// that is known, from another server. What another system says about
// the past is a claim: it is kept as such ([Task.Claimed]), and never becomes an entry of ours. Who is named as its
// sender is a claim too; ours is whoever sends the request.
//
// Invariants:
//   - Nothing is silently lost: what has no field of ours stands in [Content].Data or in [Task.Claimed] under the name
//     it came with, and a [Note] says so.
//   - What would be understood differently by two readers is refused: a key given twice, a number that loses digits.
//   - A constraint never becomes mere data: one of an unknown kind is kept as a preference.
//   - A refusal names the field.
//
// Start reading at [Decode].
package foreign
