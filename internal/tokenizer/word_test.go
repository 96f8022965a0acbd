package tokenizer

import (
	"strconv"
	"sync"
	"testing"
)

// neighbours are so many words that are remembered on one shelf.
func neighbours(n int) (words []string) {
	want := shelfOf("w0")
	for i := 0; len(words) < n; i++ {
		if w := "w" + strconv.Itoa(i); shelfOf(w) == want {
			words = append(words, w)
		}
	}
	return words
}

func TestWordsThatShareAShelfKeepTheirCounts(t *testing.T) {
	v, words := o200kBase(), neighbours(3*places)
	words = append(words, "antidisestablishmentarianism w0", "exactly thirty bytes of a word")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				for _, w := range words {
					want, err := v.codec.Count(w)
					if got := v.countWord(w); err != nil || got != want {
						t.Errorf("%q has %d tokens, want %d (%v)", w, got, want, err)
					}
				}
			}
		})
	}
	all.Wait()
}

func TestAShelfKeepsItsNewestWords(t *testing.T) {
	var s shelf
	for n := range uint8(places + 2) {
		s.put(&word{n: n})
	}
	for i := range s {
		if got := s[i].Load().n; int(got) != i+2 {
			t.Errorf("place %d has word %d", i, got)
		}
	}
}
