package canonical

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

// maxVerbatim is the number of digits up to which every whole number is its own canonical form.
const maxVerbatim = 15

// number copies the number at the cursor in its canonical form.
func (c *canonicalizer) number() error {
	text, whole := c.numberText()
	if text == nil {
		return c.syntax()
	}
	c.at += len(text)
	if whole && len(text) <= maxVerbatim && text[0] != '-' {
		c.out = append(c.out, text...)
		return nil
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return &Error{Err: errors.New("has a number out of range: send it as text")}
	}
	start := len(c.out)
	c.out = AppendNumber(c.out, f)
	if whole && f != 0 && !bytes.Equal(c.out[start:], text) {
		return &Error{Err: errors.New("has a whole number that would lose digits: send it as text")}
	}
	return nil
}

// numberText returns the text of the number at the cursor, nil if it does not follow the grammar of RFC 8259, and whether
// it has neither fraction nor exponent.
func (c *canonicalizer) numberText() (text []byte, whole bool) {
	src := c.src[c.at:]
	i := 0
	if i < len(src) && src[i] == '-' {
		i++
	}
	n := digits(src[i:])
	if n == 0 || n > 1 && src[i] == '0' {
		return nil, false
	}
	i += n
	whole = true
	if i < len(src) && src[i] == '.' {
		if n = digits(src[i+1:]); n == 0 {
			return nil, false
		}
		i += 1 + n
		whole = false
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		if n = digits(src[i:]); n == 0 {
			return nil, false
		}
		i += n
		whole = false
	}
	return src[:i], whole
}

func digits(b []byte) int {
	for i, d := range b {
		if d < '0' || d > '9' {
			return i
		}
	}
	return len(b)
}

// AppendNumber writes a finite number as ECMAScript does (RFC 8785, 3.2.2.3).
func AppendNumber(out []byte, f float64) []byte {
	if f == 0 {
		return append(out, '0') // also for -0
	}
	abs := math.Abs(f)
	if abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(out, f, 'f', -1, 64)
	}
	out = strconv.AppendFloat(out, f, 'e', -1, 64)
	// Go writes at least two digits of exponent, ECMAScript no leading zero.
	if n := len(out); out[n-2] == '0' && (out[n-3] == '+' || out[n-3] == '-') {
		out[n-2] = out[n-1]
		out = out[:n-1]
	}
	return out
}
