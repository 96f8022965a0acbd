// Package tokenizer counts the tokens of a text as its receiver counts them.
//
// A [Counter] represents the tokenizer of one receiver. Two vocabularies are built in and counted exactly: o200k_base, the
// default, and cl100k_base. There is one exception: where a line holds nothing but blanks, a count may be one token too high. It
// is never too low. For every other name the count is an estimate that is never too low: the number of bytes. Each
// token of a byte-level tokenizer covers at least one byte, so no byte-pair encoding, whatever its vocabulary, makes more
// tokens than that; no smaller bound holds for all of them, since a vocabulary may lack any merge. For English prose it is
// about four times too high: if the tokenizer of a receiver is close to a built-in one, name that one instead. Tokenizers
// that first rewrite text into a longer one, or add tokens of their own around it, are not covered.
//
// Counting is additive at safe boundaries: see [Counter.Count]. A chunk between them of more than 30 bytes is cached by its
// SHA-256 until another takes its place, 32,768 for each vocabulary, less than 2 MiB: a text that is in envelope after envelope costs one look-up. A new
// chunk is counted word by word, and some 100,000 words are cached, in at most 1.2 MiB: most texts are new, few words are.
//
// A vocabulary is loaded at its first use. Measured on the 2-core test machine: o200k_base takes 16 ms and 1 MiB of heap,
// cl100k_base 8 ms and 0.5 MiB, without a pointer; counting prose runs at 30 MB/s, a look-up at 150 MB/s and more.
//
// Invariants:
//   - A count is never negative, and that of the empty text is 0.
//   - Counters are values, safe for concurrent use; the same text always has the same count.
//   - Time is linear in the length of the text.
//
// Where to change what:
//   - counter.go: the built-in tokenizers by name, and the estimate for all others
//   - vocabulary.go, wordset.go: how a text is split for its count, and how many counts are kept
//   - split.go: the pieces of a text in which tokens are looked for, by the patterns of the vocabularies
//   - tokens.go, merge.go: the tokens of a vocabulary, and how those of a piece are found
//
// A slow test compares all of it with the library from which the tokens and the patterns come, and writes the lists of tokens and recorded counts, with -update.
//
// Start reading at [For] in counter.go, which has the built-in tokenizers by name, then vocabulary.go.
package tokenizer
