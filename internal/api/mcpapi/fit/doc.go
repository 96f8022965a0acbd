// Package fit keeps what tools answer within the context window of their reader: it counts with the reader's tokenizer, cuts long texts
// into pages, and says how to get the rest.
//
// Invariants:
//   - A page has at most half of the reader's window, and at most [Usual] tokens. Its text and its structured content are counted
//     separately, and each keeps within both.
//   - What is left out is counted, with the call that has it.
//   - Text of others that was in a fence stays in one, wherever it is cut.
//   - A text is cut between characters, and its pages together are the text.
//
// Start reading at [For].
package fit
