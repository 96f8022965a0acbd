package tokenizer

// shelf has words with their counts, the oldest first, each as its length, its count and its text; no word is where the length
// is 0. It never changes, and is a line of the processor's cache: finding a word among many thousands takes a look at one.
type shelf [64]byte

// header is what stands before a word's text.
const header = 2

// find returns the count of a word that is there. A nil shelf has none.
func (s *shelf) find(word string) (int, bool) {
	if s == nil {
		return 0, false
	}
	for at := 0; at+header < len(s) && s[at] != 0; {
		n, text := int(s[at+1]), at+header
		at = text + int(s[at])
		if string(s[text:at]) == word {
			return n, true
		}
	}
	return 0, false
}

// with returns a shelf with one more word of 1 to maxWord bytes, in whose stead the oldest go. No word has more tokens than
// bytes.
func (s *shelf) with(word string, n int) *shelf {
	out := new(shelf)
	end := 0
	if s != nil {
		*out = *s
		for end+header < len(s) && s[end] != 0 {
			end += header + int(s[end])
		}
	}
	gone := 0
	for end-gone+header+len(word) > len(out) {
		gone += header + int(out[gone])
	}
	copy(out[:], out[gone:end])
	end -= gone
	clear(out[end:])
	out[end], out[end+1] = uint8(len(word)), uint8(n) //nolint:gosec // at most maxWord
	copy(out[end+header:], word)
	return out
}

// shelfOf is where a word is remembered, by FNV-1a.
func shelfOf(word string) uint32 {
	h := uint32(2166136261)
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * 16777619
	}
	return (h ^ h>>16) % shelves
}
