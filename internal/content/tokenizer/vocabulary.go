package tokenizer

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"sync/atomic"
)

const (
	cachedChunks = 32 << 10 // chunks whose counts a vocabulary caches at most
	wordSets     = 16 << 10 // sets of cached words
	maxWord      = 30       // the length of the longest word that is cached, in bytes
)

// vocabulary is the tokens of one tokenizer with a cache of their counts. They are those of a pure function: to evict one only costs time. Both tables
// are read without a lock; of two concurrent writes to a place, one is lost.
type vocabulary struct {
	tokens *tokens
	chunks [cachedChunks]atomic.Pointer[counted]
	words  [wordSets]atomic.Pointer[wordSet]
}

// counted is a chunk whose tokens were counted.
type counted struct {
	sum    [sha256.Size]byte
	tokens int
}

// Vocabularies are loaded at their first use.
var (
	o200kBase  = sync.OnceValue(func() *vocabulary { return &vocabulary{tokens: newTokens(o200kTokens, splitO200k)} })
	cl100kBase = sync.OnceValue(func() *vocabulary { return &vocabulary{tokens: newTokens(cl100kTokens, splitCl100k)} })
)

func (v *vocabulary) count(chunk string) int {
	if len(chunk) <= maxWord {
		return v.countWord(chunk)
	}
	var buf [2 << 10]byte // most chunks fit, and then nothing is allocated
	sum := sha256.Sum256(append(buf[:0], chunk...))
	place := &v.chunks[placeOf(sum)]
	if have := place.Load(); have != nil && have.sum == sum {
		return have.tokens
	}
	n := 0
	for rest := chunk; rest != ""; {
		end := wordEnd(rest)
		n += v.countWord(rest[:end])
		rest = rest[end:]
	}
	place.Store(&counted{sum, n})
	return n
}

// placeOf is where the count of a chunk is cached.
func placeOf(sum [sha256.Size]byte) uint32 { return binary.LittleEndian.Uint32(sum[:]) % cachedChunks }

// countWord counts a text inside which counts do not add up. Words are repeated much more often than whole chunks.
func (v *vocabulary) countWord(text string) int {
	if all(text, digit) { // each three of them are a token, and so is the rest: numbers, times and ids are mostly new
		return (len(text) + 2) / 3
	}
	if len(text) > maxWord {
		return v.tokens.count(text)
	}
	place := &v.words[wordSetOf(text)]
	have := place.Load()
	if n, ok := have.find(text); ok {
		return n
	}
	n := v.tokens.count(text)
	place.CompareAndSwap(have, have.with(text, n))
	return n
}

// wordEnd returns the end of the first word of a chunk: before the first single space between two graphic ASCII characters,
// or between two of them of which exactly one is a digit, as in most ids. In the patterns by which the vocabularies split a
// text, a match that has anything before such a space never extends over it, and digits match only with digits; the one
// look-ahead is only tried after white space, with which the part before never ends.
func wordEnd(chunk string) int {
	for at := 1; at < len(chunk); at++ {
		before, b := chunk[at-1], chunk[at]
		switch {
		case !graphic(before):
		case b == ' ' && at+1 < len(chunk) && graphic(chunk[at+1]):
			return at
		case graphic(b) && digit(before) != digit(b):
			return at
		}
	}
	return len(chunk)
}

// all reports whether each byte of a text is of a kind.
func all(text string, kind func(byte) bool) bool {
	for i := range len(text) {
		if !kind(text[i]) {
			return false
		}
	}
	return true
}

func graphic(b byte) bool { return b > ' ' && b <= '~' }

func digit(b byte) bool { return b >= '0' && b <= '9' }
