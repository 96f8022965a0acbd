package tokenizer

// wordSet is one set of a set-associative cache of words and their counts: the oldest first, each as its length, its count
// and its text, ended by a length of 0. It is immutable and as large as one line of the processor's cache, so that a
// look-up among many thousands of words reads one line.
type wordSet [64]byte

// header is the number of bytes before the text of a word.
const header = 2

// find returns the count of a word that is in the set. A nil set is empty.
func (s *wordSet) find(word string) (int, bool) {
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

// with returns a copy of the set with one more word of 1 to maxWord bytes; the oldest words make way for it. No word has
// more tokens than bytes.
func (s *wordSet) with(word string, n int) *wordSet {
	out := new(wordSet)
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

// wordSetOf returns the index of the set that caches a word, by FNV-1a.
func wordSetOf(word string) uint32 {
	h := uint32(2166136261)
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * 16777619
	}
	return (h ^ h>>16) % wordSets
}
