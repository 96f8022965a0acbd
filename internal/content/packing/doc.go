// Package packing fits an envelope to its receiver: it chooses the parts that fit the receiver's token budget, and lists
// those that it omits.
//
// It measures exactly the text that [envelope.Render] returns. The header, the intent, the ask, the constraints, the open
// questions and the expected output are never cut; if the budget is too small for them, the refusal says how many tokens
// they take. Everything else is a part: a fact, a decision, a step of the history, a memory item, an artifact, or one of
// the texts on the state of the work. A part is kept whole or omitted whole.
//
// The strategies:
//
//   - full keeps everything, or refuses.
//   - priority, the default, has seven ranks: (1) what the requester and operators pinned; (2) what they made vital, with an importance of 0.9
//     and more; (3) what agents pinned; (4) what agents made vital; (5) the state of the work: state, notes, summary and detail; (6) all
//     others, the most valuable per token first; (7) parts with an importance below 0.2. In the first four, each author gets as many
//     tokens as any other. Of what an agent made vital, a bound of parts and tokens counts: what is beyond it is of rank 6, and its
//     omission says so. One exception: a part of more than 128 tokens that is longer than all parts before it together waits for shorter
//     parts of later ranks, and is omitted if it then does not fit, even if it is pinned. So with a small budget a pinned text of 3,000
//     tokens does not displace ten facts of 100. But the parts of ranks 1 to 5 that fit half of the whole together are kept in that half.
//   - summary_refs does the same, but leaves data, history and memory to be fetched.
//   - lazy keeps state, notes, detail and references, and leaves all else to be fetched.
//
// Whatever the budget, all but full omit raw conversation, the reasoning of facts and decisions, and the tool calls of the
// sender, except for pinned ones.
//
// These parts are put into one order that does not depend on the budget, and the longest beginning of it that fits is kept.
// So a larger budget never loses what a smaller one kept; docs/adr/0016-kept-parts-are-a-chain.md has the reasons.
//
// The list of omissions takes tokens itself. The prompt shows it in the longest of three forms that fits and takes no more
// than its share of the budget. To make room for the list, only other parts are removed: never one that is pinned, vital or
// about the state of the work, and never one that a smaller budget keeps. The document always lists omissions by id, up to [envelope.MaxOmissions] and about 100 KiB; beyond that
// by kind and reason.
//
// The first part that does not fit ends what is kept, even if a later, shorter part would fit. So up to the length of that part stays unused; that is most
// where a long part of the requester or of operators is next. A smaller part could only take that room if a larger budget kept it as well. Then the long part would need a budget
// for both, and between that and its own fit, where it is kept now, less important parts would displace it. Within a rank the shorter parts of the same
// importance are before it already.
//
// Why sums are exact: every line that Render writes outside of a text begins where token counts add up (see
// [tokenizer.Counter.Count]), so the tokens of a part are measured once, alone. The choice uses these sums. Then the whole
// is counted; if it is over the budget, because a fence had to grow, the last parts are removed until it fits.
//
// Invariants:
//   - The rendered result is never over the budget, and states its number of tokens.
//   - The parts that are never cut are present, word for word.
//   - A larger budget keeps all parts that a smaller one keeps.
//   - Each part of the input is either kept or counted by exactly one omission.
//   - The same input gives the same envelope.
//
// Where to change what:
//   - order.go: the ranks, the importance below which a part is minor (what is vital: envelope/parts.go), how much an agent can make vital, and what a part is worth within its rank (kind, importance, age, length)
//   - part.go: what counts as one part (what does not is never cut), what each strategy leaves to be fetched, and how long the list of omissions in the document may be; choose.go: how many parts fit, and how much of a
//     budget the list of omissions may take
//   - cost.go: what is counted; packing.go: the default strategy, and the refusal of a budget that is too small. The size of the
//     budget is decided in usecase/envelopes/pack.go
//
// Start reading at [Pack]. choose.go takes as much of the order as fits.
package packing
