// Package packing fits an envelope to its receiver: it chooses which parts the receiver's token budget has room for,
// and lists those it left out.
//
// What is measured is exactly the text that [envelope.Render] gives. The header, the intent, the ask, the constraints,
// the open questions and the expected output are never cut; if the budget is too small for them, that is a refusal
// which says how many tokens they take. Everything else is a part: a fact, a decision, a step of the history, a memory
// item, an artifact, or one of the texts on where the work stands. A part is kept whole or left out whole.
//
// The strategies:
//
//   - full keeps everything, or refuses.
//   - priority, the default, takes pinned parts first, then state, notes, summary and detail, then the most valuable per
//     token. A part that does not fit is skipped, and the next is tried. That holds for a pinned part too: nobody can
//     make a task's envelopes impossible by pinning. It is then listed as left out though pinned.
//   - summary_refs does the same, but leaves data, history and memory to be fetched.
//   - lazy keeps state, notes, detail and references, and leaves all else to be fetched.
//
// Whatever the budget, all but full leave out raw conversation, the reasoning behind facts and decisions, and the
// sender's tool calls, except for those that are pinned.
//
// The list of what was left out takes tokens itself. The prompt shows it in the longest of three forms that fits and
// does not take more than its share of the budget, nor the room of a part that is pinned or says where the work stands;
// the document always has it by id, up to [envelope.MaxOmissions]
// and about 100 KiB; beyond that by kind and reason.
//
// How it stays exact: every line that Render writes outside of a text starts where counts add up (see
// [tokenizer.Counter.Count]), so a part's tokens are measured once, alone. The choice is made with these sums. Then
// the whole is counted, once; should it be over the budget, because a fence had to grow, the least valuable parts go
// until it is not.
//
// Invariants:
//   - The rendered result is never over the budget, and says how many tokens it has.
//   - What must survive is there, word for word.
//   - Each part of the input is either kept or counted by exactly one omission.
//   - The same input gives the same envelope.
//
// Start reading at [Pack].
package packing
