// Package prompt writes the prompts of receivers, as Markdown: texts of people and agents in fenced blocks and code spans, and lists whose entries cannot pose as
// one another. What is in a prompt, in which order and under which headings, is in package envelope.
//
// Invariants:
//   - No text ends the block that it is in.
//   - In a list, each entry begins with its label or a dash, and its further lines are indented.
//   - The tokens of blocks and entries add up to those of the whole.
//
// Start reading at [Builder].
package prompt
