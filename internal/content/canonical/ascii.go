package canonical

// Most input is plain ASCII text. These functions scan it eight bytes at a time.

const (
	ones = 0x0101010101010101 // a one in each of eight bytes
	tops = ones << 7          // their highest bits
)

// eight returns s[at:at+8] as a little-endian integer.
func eight[T string | []byte](s T, at int) uint64 {
	s = s[at : at+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// below returns 0 if no byte of x is less than n, from 1 to 128; otherwise the lowest bit set is the highest bit of the
// lowest such byte.
func below(x, n uint64) uint64 { return (x - ones*n) &^ x & tops }

// plainEnd returns the index, from at on, of the first quote, backslash or control character of s: the end of the text
// that a JSON string holds unescaped.
func plainEnd(s []byte, at int) int {
	for ; at+8 <= len(s); at += 8 {
		x := eight(s, at)
		if below(x, ' ')|below(x^ones*'"', 1)|below(x^ones*'\\', 1) != 0 {
			break
		}
	}
	for ; at < len(s); at++ {
		if b := s[at]; b < ' ' || b == '"' || b == '\\' {
			return at
		}
	}
	return at
}
