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
				if got, want := v.count(c), v.tokens.count(c); got != want {
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

func TestNumbersAreCountedWithoutASplit(t *testing.T) {
	for name, v := range map[string]*vocabulary{"o200k_base": o200kBase(), "cl100k_base": cl100kBase()} {
		for n := range 1000 {
			for _, number := range []string{fmt.Sprint(n), fmt.Sprintf("%02d", n), fmt.Sprintf("%03d", n)} {
				if v.tokens.rank(number) == none {
					t.Errorf("%s: %s is no token", name, number)
				}
			}
		}
		for _, text := range []string{"7", "42", "123456", "1234567890", "a", "measure", "qzxkvwj", strings.Repeat("x", 200)} {
			want := 0
			for rest := text; rest != ""; {
				end := v.tokens.split(rest)
				want += v.tokens.piece(rest[:end])
				rest = rest[end:]
			}
			if got := v.countWord(text); got != want {
				t.Errorf("%s: %.20q has %d tokens, want %d", name, text, got, want)
			}
		}
		next := 0
		if n := testing.AllocsPerRun(100, func() { next++; v.countWord(numbers[next]) }); n > 0 {
			t.Errorf("%s: to count a new number makes %v allocations", name, n)
		}
		if n := testing.AllocsPerRun(100, func() { v.tokens.count("qzxkvwj") }); n > 0 {
			t.Errorf("%s: to count a new word makes %v allocations", name, n)
		}
	}
}

// numbers were not counted before.
var numbers = func() (all []string) {
	for i := range 200 {
		all = append(all, strings.Repeat(fmt.Sprint(i%9+1), 20)+fmt.Sprintf("%06d", i*7919))
	}
	return all
}()
