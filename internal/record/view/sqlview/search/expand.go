package search

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// Bounds of one search: the words for which close words are looked up, the close words of each, and the terms that all of
// them come to.
const (
	maxRareWords = 8
	maxClose     = 8
	maxExpanded  = 3 * maxRareWords
)

// Weights of hits of close words.
const (
	mistyped  = 0.8 // at one typing error from the word
	related   = 0.5 // with another ending, or in a compound with the word
	component = 0.5 // a half of the word
)

// minTyped is the least length of a word in which a typing error is looked for, or that is looked for in compounds.
const minTyped = 5

const (
	// wordsOf are those of some words that the vocabulary has.
	wordsOf = "SELECT word FROM view_memory_word WHERE ws = ? AND owner IN ('', ?) AND word IN (SELECT value FROM json_each(?)) LIMIT ?"
	// wordsInflected are those with some endings, see [ending].
	wordsInflected = "SELECT word FROM view_memory_word INDEXED BY view_memory_word_ending WHERE ws = ? AND owner IN ('', ?) AND ending IN (SELECT value FROM json_each(?)) LIMIT ?"
	// wordsFrom are the shortest of the first words with a beginning.
	wordsFrom = `SELECT word FROM (SELECT word FROM view_memory_word WHERE ws = ? AND owner IN ('', ?) AND word >= ? AND word < ? LIMIT 64)
		ORDER BY length(word), word LIMIT ? | 0`
	// wordsTo are the shortest of the first words with an ending.
	wordsTo = `SELECT word FROM (SELECT word FROM view_memory_word INDEXED BY view_memory_word_ending WHERE ws = ? AND owner IN ('', ?) AND ending >= ? AND ending < ? LIMIT 64)
		ORDER BY length(word), word LIMIT ? | 0`
	last = "\U0010FFFF" // sorts after any letter
)

// expand returns terms of words that are close to those that few items have, for a reader by name.
func (r *Reader) expand(ctx context.Context, workspace, reader string, k *ranking, words []word) (terms []term, err error) {
	find := func(q string, args ...any) (found []string) {
		if err == nil {
			found, err = query.Texts(ctx, r.db, q, append([]any{workspace, reader}, args...)...)
		}
		return found
	}
	rare, next := 0, len(words)
	for i, w := range words {
		rows := k.rows(i)
		if w.plain == "" || rows >= fewRows || rare == maxRareWords {
			continue
		}
		rare++
		v := vocabulary{find: find, forms: append([]string{w.plain}, spellings(w.plain)...)}
		var typed []string
		if rows == 0 {
			typed = v.mistyped()
		}
		if len(typed) > 0 {
			terms = append(terms, term{i, anyOf(typed), mistyped})
		} else if others := v.related(); len(others) > 0 {
			terms = append(terms, term{i, anyOf(others), related})
		}
		for _, half := range v.components() {
			terms = append(terms, term{next, quote(half), component})
			next++
		}
	}
	return terms, err
}

// anyOf is the query of the index for any of some words.
func anyOf(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " OR ")
}

// vocabulary finds words that are close to one word, in any of its spellings.
type vocabulary struct {
	find  func(query string, args ...any) []string
	forms []string
}

// mistyped are the words at one typing error from a word of five letters or more, whatever their inflection.
func (v vocabulary) mistyped() (words []string) {
	for _, w := range v.forms {
		if utf8.RuneCountInString(w) >= minTyped {
			words = append(words, v.find(wordsOf, list(neighbours(w)), maxClose)...)
		}
		if base := withoutInflection(w); utf8.RuneCountInString(base) >= minTyped {
			near := neighbours(base)
			for i := range near {
				near[i] = reversed(near[i])
			}
			words = append(words, v.find(wordsInflected, list(near), maxClose)...)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// related are words with another ending, or in which the word is the first or the last part.
func (v vocabulary) related() (words []string) {
	for _, w := range v.forms {
		base, short := withoutInflection(w), stem(w)
		for _, other := range v.find(wordsFrom, short, short+last, 2*maxClose) {
			compound := strings.HasPrefix(other, base) && utf8.RuneCountInString(base) >= minTyped
			if other != w && (compound || stem(other) == short) {
				words = append(words, other)
			}
		}
		if utf8.RuneCountInString(base) >= minTyped {
			words = append(words, v.find(wordsTo, reversed(base), reversed(base)+last, maxClose)...)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// components are the halves of a compound that the vocabulary has both, of at most one way to take it apart.
func (v vocabulary) components() []string {
	for _, w := range v.forms {
		ways := halves(w)
		if len(ways) == 0 {
			continue
		}
		var all []string
		for _, way := range ways {
			all = append(all, way[0], way[1])
		}
		have := v.find(wordsOf, list(all), len(all))
		for _, way := range ways {
			if slices.Contains(have, way[0]) && slices.Contains(have, way[1]) {
				return way[:]
			}
		}
	}
	return nil
}
