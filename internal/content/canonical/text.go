package canonical

import (
	"bytes"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// compareUTF16 orders two UTF-8 strings by their UTF-16 code units, as RFC 8785 asks. That is the order of bytes,
// except that surrogate pairs (lead byte F0 and up) come before U+E000 to U+FFFF (lead bytes EE and EF).
func compareUTF16(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			return int(y) - int(x)
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}

// str copies the string at the cursor and returns it unescaped. The result may alias src.
func (c *canonicalizer) str() ([]byte, error) {
	start := c.at + 1
	c.at = plainEnd(c.src, start)
	switch c.peek() {
	case '"':
		text := c.src[start:c.at]
		c.at++
		c.out = append(c.out, '"')
		c.out = append(c.out, text...)
		c.out = append(c.out, '"')
		return text, nil
	case '\\':
		return c.escaped(start)
	}
	return nil, c.syntax()
}

// peek returns the byte at the cursor, white space included; at the end 0, which no string contains.
func (c *canonicalizer) peek() byte {
	if c.at == len(c.src) {
		return 0
	}
	return c.src[c.at]
}

// escaped continues str from the first backslash.
func (c *canonicalizer) escaped(start int) ([]byte, error) {
	text := append(make([]byte, 0, c.at-start+32), c.src[start:c.at]...)
	for {
		switch c.peek() {
		case '"':
			c.at++
			c.out = appendQuoted(c.out, text)
			return text, nil
		case '\\':
			r, err := c.escape()
			if err != nil {
				return nil, err
			}
			text = utf8.AppendRune(text, r)
		default:
			end := plainEnd(c.src, c.at)
			if end == c.at {
				return nil, c.syntax()
			}
			text = append(text, c.src[c.at:end]...)
			c.at = end
		}
	}
}

// escape reads one escape sequence, a surrogate pair included.
func (c *canonicalizer) escape() (rune, error) {
	if c.at+1 == len(c.src) {
		return 0, c.syntax()
	}
	b := c.src[c.at+1]
	if b == 'u' {
		return c.unicodeEscape()
	}
	i := bytes.IndexByte([]byte(`"\/bfnrt`), b)
	if i < 0 {
		return 0, c.syntax()
	}
	c.at += 2
	return rune("\"\\/\b\f\n\r\t"[i]), nil
}

func (c *canonicalizer) unicodeEscape() (rune, error) {
	r, ok := c.hex4()
	if !ok {
		return 0, c.syntax()
	}
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	low, ok := c.hex4()
	if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
		return pair, nil
	}
	return 0, &Error{Err: errors.New("has half a surrogate pair in a string")}
}

// hex4 takes \uXXXX.
func (c *canonicalizer) hex4() (rune, bool) {
	rest := c.src[c.at:]
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, b := range rest[2:6] {
		switch {
		case b >= '0' && b <= '9':
			r = r<<4 | rune(b-'0')
		case b|0x20 >= 'a' && b|0x20 <= 'f':
			r = r<<4 | rune(b|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	c.at += 6
	return r, true
}

const hexDigits = "0123456789abcdef"

// appendQuoted writes text as a JSON string with the fewest escapes (RFC 8785, 3.2.2.2).
func appendQuoted(out, text []byte) []byte {
	out = append(out, '"')
	for {
		end := plainEnd(text, 0)
		out = append(out, text[:end]...)
		if end == len(text) {
			return append(out, '"')
		}
		b := text[end]
		text = text[end+1:]
		switch b {
		case '"', '\\':
			out = append(out, '\\', b)
		case '\b':
			out = append(out, '\\', 'b')
		case '\f':
			out = append(out, '\\', 'f')
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		case '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
		}
	}
}
