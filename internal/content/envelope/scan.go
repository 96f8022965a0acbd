package envelope

// Most of what is read byte by byte is plain text. It is looked at eight bytes at a time.

const (
	ones = 0x0101010101010101 // a one in each of eight bytes
	tops = ones << 7          // their highest bits
)

// eight are the bytes of s from at on, the first of them the lowest.
func eight[T string | []byte](s T, at int) uint64 {
	s = s[at : at+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// below has the highest bit of the lowest byte that is less than n set, n from 1 to 128, and none if there is no such byte.
func below(x, n uint64) uint64 { return (x - ones*n) &^ x & tops }

// plainEnd is where the part of s from at on ends that stands in a JSON string as it is: before the first quote, backslash or
// control character.
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

// plain reports whether text is ASCII with nothing to be shown: the usual case, and much cheaper.
func plain(text string) bool {
	for at := 0; at < len(text); {
		if at+8 <= len(text) {
			if x := eight(text, at); (x|(x+ones))&tops|below(x, ' ') == 0 { // none from DEL on, and no control character
				at += 8
				continue
			}
		}
		if b := text[at]; (b < ' ' && b != '\n' && b != '\t') || b >= 0x7F {
			return false
		}
		at++
	}
	return longestRun(text) <= maxBackquotes
}
