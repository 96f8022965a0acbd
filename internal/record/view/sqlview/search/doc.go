// Package search keeps memory items and conversations in tables of the views' database, and answers queries of them.
//
// It needs no folds of items: each event says what it changes. The words of the items are in full-text indexes (SQLite FTS5; words are stemmed,
// accents ignored: schema.go), as words.go prepares them (plurals, umlauts, and the stop words that no search needs). They are also in a vocabulary. For a word that few items have, a search looks there for
// close words (expand.go). fuzzy.go says which words are close, such as one with a typing error. The indexes and the vocabulary have the newest versions; a forgotten item is removed from all of them. How well
// it finds what people mean is measured by recall_test.go. Package sqlview opens the database,
// follows the ledger and keeps the position of the views, and joins these tables with those of tasks.
//
// Invariants:
//   - The content of the tables depends on the entries alone, never on their batches.
//   - No query reads all items, unless it lists all items.
//   - A query returns only items that its caller may read, by the rule of memory.MayRead.
//
// Where to change what:
//   - rank.go: how words, importance and age (of the newest version) are weighed in the order of hits. Anything else that items are ranked by begins as a
//     column in schema.go, filled by write.go; reads do not reach the views: sqlview/project.go passes over the entries of package access
//   - expand.go: which words are looked up with typing errors (from which length on, how many), and what a close word counts; fuzzy.go: which words are close: how many typing errors, endings, halves
//   - words.go: stop words, plurals, parts of identifiers (there are no synonyms: other words for the same thing are found by meaning alone, in memories/meaning.go); schema.go: stemming and accents
//   - query.go: which filters there are, and who may read a hit
//   - write.go: what each event writes into the tables
//   - carrier.go: which tasks carry memory or a conversation, for who has a part in them
//   - lost.go: how a verifier finds that an index lost words
//   - vector.go: which vectors count, and how many are compared with a query; sketch.go: which candidates are the first, by vectors in memory of a bit for each number. The merge with hits by meaning is in memories/meaning.go
//
// Start reading at [Schema] and [Writer], then at [Reader.Memory] and rank.go.
package search
