// Package fit keeps what tools answer within the context window of their reader: it counts with the reader's tokenizer, cuts long texts
// into pages, and says how to get the rest.
//
// Invariants:
//   - A page has at most half of the reader's window, but 200 tokens in any case, and at most [Usual] tokens. Its text and its structured content are counted
//     separately, and each keeps within both.
//   - What is left out is counted, with the call that has it.
//   - Text of others that was in a fence stays in one, wherever it is cut.
//   - A text is cut between characters, and its pages together are the text.
//
// Where to change what:
//   - reader.go: how many tokens an answer may have, for a known window and without one
//   - page.go: where a long text is cut; bound.go: how results of other tools that are too long are shortened
//   - offered.go: how many of the items of an inbox fit one answer (a page of up to usualItems is not counted; that is the default limit of usecase/tasks/inbox.go); found.go, memory.go, conversation.go: what a page of each shows first
//   - prompt.go: which call a prompt names for what was left out. The token budget of the prompt itself is decided in
//     usecase/envelopes/pack.go
//
// Start reading at [For].
package fit
