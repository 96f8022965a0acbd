package taskstore

import "bytes"

// members calls fn with each member of an object in compact JSON that is known to be valid, such as an envelope that was sealed: to find a few
// members in a long document, encoding/json reads all of it twice.
func members(object []byte, fn func(name, value []byte)) {
	for rest := bytes.TrimPrefix(object, []byte("{")); len(rest) > 0 && rest[0] == '"'; {
		name := rest[:valueEnd(rest)]
		rest = bytes.TrimPrefix(rest[len(name):], []byte(":"))
		value := rest[:valueEnd(rest)]
		rest = bytes.TrimPrefix(rest[len(value):], []byte(","))
		fn(bytes.Trim(name, `"`), value)
	}
}

// valueEnd returns the length of the value that b begins with.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i += stringEnd(b[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth < 0 {
				return i
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
		if depth == 0 && (b[i] == '"' || b[i] == '}' || b[i] == ']') {
			return i + 1
		}
	}
	return len(b)
}

// stringEnd returns the length of the string that b begins with.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}
