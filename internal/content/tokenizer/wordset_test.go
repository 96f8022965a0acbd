package tokenizer

import (
	"slices"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// TestAWordSetKeepsItsNewestWords compares a wordSet with a list of words of the same size in bytes.
func TestAWordSetKeepsItsNewestWords(t *testing.T) {
	type counted struct {
		word string
		n    int
	}
	rapid.Check(t, func(t *rapid.T) {
		var s *wordSet
		var all, kept []counted
		for range rapid.IntRange(1, 12).Draw(t, "words") {
			c := counted{word: string(rapid.SliceOfN(rapid.Byte(), 1, maxWord).Draw(t, "word"))}
			c.n = rapid.IntRange(0, len(c.word)).Draw(t, "tokens")
			if _, known := s.find(c.word); known {
				continue
			}
			var before wordSet
			if s != nil {
				before = *s
			}
			old := s
			s, all, kept = s.with(c.word, c.n), append(all, c), append(kept, c)
			if old != nil && *old != before {
				t.Fatal("with changed a set that others may read")
			}
			for size := func() (n int) {
				for _, c := range kept {
					n += header + len(c.word)
				}
				return n
			}; size() > len(s); {
				kept = kept[1:]
			}
			for _, c := range all {
				at := slices.IndexFunc(kept, func(k counted) bool { return k.word == c.word })
				if n, ok := s.find(c.word); ok != (at >= 0) || ok && n != kept[at].n {
					t.Fatalf("%q has %d tokens (%t), of %v", c.word, n, ok, kept)
				}
			}
		}
	})
}

// neighbours returns n words that are cached in the same set.
func neighbours(n int) (words []string) {
	want := wordSetOf("w0")
	for i := 0; len(words) < n; i++ {
		if w := "w" + strconv.Itoa(i); wordSetOf(w) == want {
			words = append(words, w)
		}
	}
	return words
}

func TestWordsOfOneSetKeepTheirCounts(t *testing.T) {
	v, words := o200kBase(), neighbours(20)
	words = append(words, "antidisestablishmentarianism w0", "exactly thirty bytes of a word")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				for _, w := range words {
					if got, want := v.countWord(w), v.tokens.count(w); got != want {
						t.Errorf("%q has %d tokens, want %d", w, got, want)
					}
				}
			}
		})
	}
	all.Wait()
}
