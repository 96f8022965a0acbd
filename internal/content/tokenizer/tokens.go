package tokenizer

import (
	_ "embed"
	"hash/maphash"
)

// The tokens of the vocabularies, each with its length in a byte before it, those that are merged first before others. A test writes them.
var (
	//go:embed o200k_base.tokens
	o200kTokens string
	//go:embed cl100k_base.tokens
	cl100kTokens string
)

// tokens counts the tokens of a text by byte-pair encoding. It is a table of places in a list that is part of the program, without a pointer: a
// map of the same takes six times the memory, and the garbage collector reads all of it.
type tokens struct {
	list  string                // see o200kTokens
	split func(text string) int // the length of the first piece of a text, in which tokens are looked for
	slots []uint32              // by the hash of a token: bits of the hash above its place in the list; 0: none
}

const (
	placeBits = 21 // a list has less than 2 MiB
	places    = 1<<placeBits - 1
	none      = places // the rank of what is no token
)

func newTokens(list string, split func(string) int) *tokens {
	t := &tokens{list: list, split: split}
	n := 0
	for at := 0; at < len(list); at += 1 + int(list[at]) {
		n++
	}
	size := 1
	for size < n+n/4 {
		size *= 2
	}
	t.slots = make([]uint32, size)
	for at := 0; at < len(list); at += 1 + int(list[at]) {
		h := hash(list[at+1 : at+1+int(list[at])])
		i := int(h) & (size - 1)
		for t.slots[i] != 0 {
			i = (i + 1) & (size - 1)
		}
		t.slots[i] = h&^places | uint32(at+1) //nolint:gosec // less than places
	}
	return t
}

var seed = maphash.MakeSeed()

func hash(token string) uint32 { return uint32(maphash.String(seed, token)) } //nolint:gosec // some of its bits

// rank is lower for tokens that are merged first; none for what is no token.
func (t *tokens) rank(text string) uint32 {
	h := hash(text)
	for i := int(h) & (len(t.slots) - 1); t.slots[i] != 0; i = (i + 1) & (len(t.slots) - 1) {
		if (t.slots[i]^h)&^places != 0 {
			continue
		}
		if at := int(t.slots[i] & places); int(t.list[at-1]) == len(text) && t.list[at:at+len(text)] == text {
			return uint32(at) //nolint:gosec // as above
		}
	}
	return none
}

func (t *tokens) count(text string) (n int) {
	for text != "" {
		end := t.split(text)
		n += t.piece(text[:end])
		text = text[end:]
	}
	return n
}

// piece is the number of tokens of what split has split off.
func (t *tokens) piece(piece string) int {
	switch {
	case t.rank(piece) != none:
		return 1
	case len(piece) <= maxShort:
		return t.short(piece)
	}
	return t.long(piece)
}

// maxShort is the length, in bytes, up to which pairs of tokens are looked through again after each merge.
const maxShort = 96

// short is the number of tokens of a piece that is no token itself: of all pairs of them that are a token, the leftmost of those that are merged first
// is merged, and so on.
func (t *tokens) short(piece string) int {
	var starts [maxShort + 1]uint8
	var ranks [maxShort]uint32 // of each part with the one after it
	n := len(piece)
	for i := range n + 1 {
		starts[i] = uint8(i) //nolint:gosec // at most maxShort
	}
	rank := func(i int) uint32 {
		if i+2 > n {
			return none
		}
		return t.rank(piece[starts[i]:starts[i+2]])
	}
	for i := range n {
		ranks[i] = rank(i)
	}
	for {
		first := 0
		for i, r := range ranks[:n] {
			if r < ranks[first] {
				first = i
			}
		}
		if ranks[first] == none {
			return n
		}
		copy(starts[first+1:n], starts[first+2:n+1])
		copy(ranks[first+1:n-1], ranks[first+2:n])
		n--
		ranks[first] = rank(first)
		if first > 0 {
			ranks[first-1] = rank(first - 1)
		}
	}
}
