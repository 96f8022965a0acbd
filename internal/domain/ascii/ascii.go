package ascii

// A Word is eight bytes of a text.
type Word uint64

const (
	ones = 0x0101010101010101 // a one in each of eight bytes
	tops = ones << 7          // their highest bits
)

// Size is the number of bytes in a [Word].
const Size = 8

// At returns the bytes of s from at on. There must be [Size] of them.
func At[T string | []byte](s T, at int) Word {
	s = s[at : at+Size]
	return Word(s[0]) | Word(s[1])<<8 | Word(s[2])<<16 | Word(s[3])<<24 |
		Word(s[4])<<32 | Word(s[5])<<40 | Word(s[6])<<48 | Word(s[7])<<56
}

// HasLess reports whether a byte is less than n, from 1 to 128.
func (w Word) HasLess(n byte) bool { return (w-ones*Word(n))&^w&tops != 0 }

// Has reports whether a byte is b, from 0 to 127.
func (w Word) Has(b byte) bool { return (w ^ ones*Word(b)).HasLess(1) }

// HasBeyond reports whether a byte is DEL or beyond ASCII.
func (w Word) HasBeyond() bool { return (w|(w+ones))&tops != 0 }
