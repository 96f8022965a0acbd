package tokenizer

import (
	"crypto/sha256"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/tiktoken-go/tokenizer/codec"
)

// remembered is how many chunks a vocabulary knows the counts of.
const remembered = 32 << 10

// vocabulary is a codec with the counts of what it has seen. The counts are those of a pure function: to forget one
// only costs time.
type vocabulary struct {
	codec *codec.Codec
	seen  *lru.Cache[[sha256.Size]byte, int]
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
	key := sha256.Sum256([]byte(chunk))
	if n, ok := v.seen.Get(key); ok {
		return n
	}
	n, err := v.codec.Count(chunk)
	if err != nil { // the pattern's time limit, of which there is none
		return len(chunk)
	}
	v.seen.Add(key, n)
	return n
}
