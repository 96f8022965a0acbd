package ledger

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"iter"
	"unicode/utf8"
)

// maxDepth is the greatest nesting depth of the data of an event. The standard decoder allows 10,000; no event of Trapeze
// comes near this.
const maxDepth = 500

var (
	errJSON  = errors.New("not compact JSON")
	errDepth = errors.New("JSON nested too deeply")
)

// compactValue checks that b starts with one JSON value without white space between its tokens and in valid
// UTF-8, and returns its length. One pass, no allocation: it runs over every byte that is appended or read.
func compactValue(b []byte, depth int) (int, error) {
	if len(b) == 0 {
		return 0, errJSON
	}
	switch b[0] {
	case '{':
		return compactObject(b, depth)
	case '[':
		return compactArray(b, depth)
	case '"':
		return compactString(b)
	case 't':
		return literal(b, "true")
	case 'f':
		return literal(b, "false")
	case 'n':
		return literal(b, "null")
	}
	return compactNumber(b)
}

// Members returns the members of a compact JSON object, such as the data of an event, by their names in quotes, up to the first that is
// malformed. The names are as they are stored: an escaped character stays escaped.
func Members(object []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		if len(object) == 0 || object[0] != '{' {
			return
		}
		for at := 1; at < len(object); at++ { // at the start of a member; at++ steps over the comma
			name, err := compactString(object[at:])
			if err != nil || at+name >= len(object) {
				return
			}
			value := at + name + 1 // after the colon
			n, err := compactValue(object[value:], 1)
			if err != nil || !yield(string(object[at:at+name]), object[value:value+n]) {
				return
			}
			at = value + n
		}
	}
}

func literal(b []byte, word string) (int, error) {
	if len(b) < len(word) || string(b[:len(word)]) != word {
		return 0, errJSON
	}
	return len(word), nil
}

func compactObject(b []byte, depth int) (int, error) {
	if depth >= maxDepth {
		return 0, errDepth
	}
	if len(b) > 1 && b[1] == '}' {
		return 2, nil
	}
	for i := 1; ; i++ { // at the start of a member; i++ steps over the comma
		n, err := compactString(b[i:])
		if err != nil {
			return 0, err
		}
		i += n
		if i >= len(b) || b[i] != ':' {
			return 0, errJSON
		}
		i++
		if n, err = compactValue(b[i:], depth+1); err != nil {
			return 0, err
		}
		i += n
		if i >= len(b) || b[i] != ',' && b[i] != '}' {
			return 0, errJSON
		}
		if b[i] == '}' {
			return i + 1, nil
		}
	}
}

func compactArray(b []byte, depth int) (int, error) {
	if depth >= maxDepth {
		return 0, errDepth
	}
	if len(b) > 1 && b[1] == ']' {
		return 2, nil
	}
	for i := 1; ; i++ { // at the start of an element; i++ steps over the comma
		n, err := compactValue(b[i:], depth+1)
		if err != nil {
			return 0, err
		}
		i += n
		if i >= len(b) || b[i] != ',' && b[i] != ']' {
			return 0, errJSON
		}
		if b[i] == ']' {
			return i + 1, nil
		}
	}
}

// plainByte marks the ASCII bytes that a string contains unescaped.
var plainByte = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// plainRun returns the number of such bytes at the start of b. Most stored data is plain text, so it tests eight bytes at
// once.
func plainRun(b []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, backslash := x^ones*'"', x^ones*'\\'
		// The highest bit of a byte is set if it is 0x80 or more, or if the subtraction borrows.
		if (x|(x-ones*' ')|(quote-ones)&^quote|(backslash-ones)&^backslash)&tops != 0 {
			break
		}
	}
	for i < len(b) && plainByte[b[i]] {
		i++
	}
	return i
}

func compactString(b []byte) (int, error) {
	if len(b) == 0 || b[0] != '"' {
		return 0, errJSON
	}
	for i := 1; i < len(b); {
		if i += plainRun(b[i:]); i == len(b) {
			break
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return 0, errJSON
			}
			i += n
		case c < ' ':
			return 0, errJSON
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return 0, errJSON
			}
			i += n
		}
	}
	return 0, errJSON
}

// escapeLen is the length of the escape sequence at the start of b, 0 if it is not one.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && isHex(b[2]) && isHex(b[3]) && isHex(b[4]) && isHex(b[5]) {
			return 6
		}
	}
	return 0
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func compactNumber(b []byte) (int, error) {
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	n := digits(b[i:])
	if n == 0 || n > 1 && b[i] == '0' {
		return 0, errJSON
	}
	i += n
	if i < len(b) && b[i] == '.' {
		if n = digits(b[i+1:]); n == 0 {
			return 0, errJSON
		}
		i += 1 + n
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if n = digits(b[i:]); n == 0 {
			return 0, errJSON
		}
		i += n
	}
	return i, nil
}

func digits(b []byte) int {
	i := 0
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}
