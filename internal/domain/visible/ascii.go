package visible

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

// Plain reports whether text is ASCII that [Text] returns unchanged: the usual case, and much cheaper to test.
func Plain(text string) bool {
	for at := 0; at < len(text); {
		if at+8 <= len(text) {
			if x := eight(text, at); (x|(x+ones))&tops|below(x, ' ') == 0 { // neither DEL, nor beyond ASCII, nor a control character
				at += 8
				continue
			}
		}
		if b := text[at]; (b < ' ' && b != '\n' && b != '\t') || b >= 0x7F {
			return false
		}
		at++
	}
	return LongestRun(text) <= MaxBackquotes
}
