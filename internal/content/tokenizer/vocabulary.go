package tokenizer

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/tiktoken-go/tokenizer/codec"
)

// remembered is how many chunks a vocabulary knows the counts of, and shelves the number of places for words; maxWord is the
// length of the longest word that is remembered, in bytes.
const (
	remembered = 32 << 10
	shelves    = 16 << 10
	maxWord    = 30
)

// vocabulary is a codec with the counts of what it has seen. The counts are those of a pure function: to forget one
// only costs time.
type vocabulary struct {
	codec *codec.Codec
	seen  *lru.Cache[[sha256.Size]byte, int]
	words [shelves]atomic.Pointer[shelf] // read without a lock; of two who put words there at once, one puts none
}

// Vocabularies are loaded by the first who counts with them.
var (
	o200kBase  = sync.OnceValue(func() *vocabulary { return newVocabulary(codec.NewO200kBase(), remembered) })
	cl100kBase = sync.OnceValue(func() *vocabulary { return newVocabulary(codec.NewCl100kBase(), remembered) })
)

func newVocabulary(c *codec.Codec, size int) *vocabulary {
	seen, err := lru.New[[sha256.Size]byte, int](size)
	if err != nil {
		panic(err) // only a size that is not positive is an error
	}
	return &vocabulary{codec: c, seen: seen}
}

func (v *vocabulary) count(chunk string) int {
	if len(chunk) <= maxWord {
		return v.countWord(chunk)
	}
	var room [1 << 10]byte // most chunks fit, and then nothing is allocated
	key := sha256.Sum256(append(room[:0], chunk...))
	if n, ok := v.seen.Get(key); ok {
		return n
	}
	n := 0
	for rest := chunk; rest != ""; {
		end := wordEnd(rest)
		n += v.countWord(rest[:end])
		rest = rest[end:]
	}
	v.seen.Add(key, n)
	return n
}

// countWord counts what has no place in it where counts add up. Words come again much sooner than whole chunks do.
func (v *vocabulary) countWord(text string) int {
	if len(text) > maxWord {
		return v.countAnew(text)
	}
	place := &v.words[shelfOf(text)]
	have := place.Load()
	if n, ok := have.find(text); ok {
		return n
	}
	n := v.countAnew(text)
	place.CompareAndSwap(have, have.with(text, n))
	return n
}

func (v *vocabulary) countAnew(text string) int {
	n, err := v.codec.Count(text)
	if err != nil { // the pattern's time limit, of which there is none
		return len(text)
	}
	return n
}

// wordEnd returns where the first word of a chunk ends: before the first space that stands alone between two graphic ASCII
// characters, or between two of them of which one is a digit and one is not, as in most ids. In the patterns by which the
// vocabularies split a text, a match that has anything before such a space never goes on over it, and digits match only with
// digits; the one look-ahead is only tried behind white space, of which the part before has none at its end.
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

func graphic(b byte) bool { return b > ' ' && b <= '~' }

func digit(b byte) bool { return b >= '0' && b <= '9' }
