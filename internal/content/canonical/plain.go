package canonical

import "github.com/trapezehq/trapeze/internal/domain/ascii"

// plainEnd returns the index, from at on, of the first quote, backslash or control character of s: the end of the text
// that a JSON string holds unescaped.
func plainEnd(s []byte, at int) int {
	for ; at+ascii.Size <= len(s); at += ascii.Size {
		if w := ascii.At(s, at); w.HasLess(' ') || w.Has('"') || w.Has('\\') {
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
