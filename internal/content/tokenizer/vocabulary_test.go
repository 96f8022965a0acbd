package tokenizer

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

func TestChunksWithOnePlaceInTheCacheKeepTheirOwnCounts(t *testing.T) {
	v, at := o200kBase(), map[uint32]string{}
	for i := range cachedChunks {
		chunk := fmt.Sprintf("a chunk of more than %d bytes is not counted as a word%s", maxWord, strings.Repeat(" more", i))
		place := placeOf(sha256.Sum256([]byte(chunk)))
		other, ok := at[place]
		if at[place] = chunk; !ok {
			continue
		}
		for range 2 {
			for _, c := range []string{chunk, other} {
				if got, want := v.count(c), v.countUncached(c); got != want {
					t.Errorf("%d bytes: counted %d tokens, want %d", len(c), got, want)
				}
			}
		}
		if have := v.chunks[place].Load(); have == nil || have.sum != sha256.Sum256([]byte(other)) {
			t.Error("the newer chunk does not take the place of the older one")
		}
		return
	}
	t.Error("no two chunks have the same place")
}
