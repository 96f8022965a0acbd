package configfile

import (
	"encoding/json"
	"strings"
)

// statement is a header or a key with its value in a TOML text.
type statement struct {
	header, array bool
	path          []string
	start, end    int // end includes the line end
	from, to      int // offsets of the value
}

type tomlScanner struct {
	text string
	at   int
}

func (s *tomlScanner) wrong(what string) error { return broken(s.text, s.at, what) }

func (s *tomlScanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *tomlScanner) has(prefix string) bool { return strings.HasPrefix(s.text[s.at:], prefix) }

// blank skips spaces, and with lines also comments and line ends.
func (s *tomlScanner) blank(lines bool) {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == ' ' || c == '\t':
			s.at++
		case lines && (c == '\n' || c == '\r'):
			s.at++
		case lines && c == '#':
			s.comment()
		default:
			return
		}
	}
}

func (s *tomlScanner) comment() {
	if end := strings.IndexByte(s.text[s.at:], '\n'); end >= 0 {
		s.at += end
		return
	}
	s.at = len(s.text)
}

// statements parses a text.
func statements(text string) (list []statement, err error) {
	for i := range len(text) { // TOML 1.0 has it in no place but before a line feed
		if text[i] == '\r' && !strings.HasPrefix(text[i+1:], "\n") {
			return nil, broken(text, i, "a carriage return without a line feed")
		}
	}
	s := &tomlScanner{text: text, at: len(text) - len(strings.TrimPrefix(text, "\ufeff"))}
	for {
		if s.blank(true); s.at == len(text) {
			return list, nil
		}
		one, err := s.statement()
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
}

func (s *tomlScanner) statement() (one statement, err error) {
	one.start = s.at
	closing := ""
	switch {
	case s.has("[["):
		one.header, one.array, closing = true, true, "]]"
	case s.has("["):
		one.header, closing = true, "]"
	}
	s.at += len(closing)
	if one.path, err = s.key(); err != nil {
		return one, err
	}
	if one.header {
		if !s.has(closing) {
			return one, s.wrong("unterminated table header")
		}
		s.at += len(closing)
	} else {
		if s.peek() != '=' {
			return one, s.wrong("missing =")
		}
		s.at++
		s.blank(false)
		one.from = s.at
		if err := s.value(0, "\n#"); err != nil {
			return one, err
		}
		one.to = one.from + len(strings.TrimRight(s.text[one.from:s.at], " \t\r"))
	}
	s.blank(false)
	if s.peek() == '#' {
		s.comment()
	}
	if s.peek() == '\r' {
		s.at++
	}
	switch {
	case s.peek() == '\n':
		s.at++
	case s.at < len(s.text):
		return one, s.wrong("unexpected text after the value")
	}
	one.end = s.at
	return one, nil
}

// key parses a dotted key, and the spaces after it.
func (s *tomlScanner) key() (path []string, err error) {
	for {
		s.blank(false)
		start := s.at
		for s.at < len(s.text) && bare(rune(s.text[s.at])) {
			s.at++
		}
		part := s.text[start:s.at]
		if part == "" {
			if s.has(`"""`) || s.has("'''") {
				return nil, s.wrong("missing key")
			}
			if part, err = s.quoted(); err != nil {
				return nil, err
			}
		}
		path = append(path, part)
		if s.blank(false); s.peek() != '.' {
			return path, nil
		}
		s.at++
	}
}

// quoted parses a string on one line.
func (s *tomlScanner) quoted() (string, error) {
	start, quote := s.at, s.peek()
	if quote != '"' && quote != '\'' {
		return "", s.wrong("missing key or value")
	}
	for s.at++; s.at < len(s.text) && s.text[s.at] != '\n'; s.at++ {
		switch {
		case s.text[s.at] == '\\' && quote == '"':
			s.at++
		case s.text[s.at] == quote:
			s.at++
			inside := s.text[start+1 : s.at-1]
			if quote == '\'' {
				return inside, nil
			}
			text := inside // stays as written with an escape that JSON does not have: no compared value has one
			_ = json.Unmarshal([]byte(s.text[start:s.at]), &text)
			return text, nil
		}
	}
	s.at = start
	return "", s.wrong("unterminated string")
}

// value skips a value, which one of ends terminates.
func (s *tomlScanner) value(depth int, ends string) error {
	start := s.at
	switch {
	case depth > maxDepth:
		return s.wrong("values are nested too deeply")
	case s.has(`"""`), s.has("'''"):
		return s.long()
	case s.peek() == '"' || s.peek() == '\'':
		_, err := s.quoted()
		return err
	case s.peek() == '[':
		return s.inside(']', depth)
	case s.peek() == '{':
		return s.inside('}', depth)
	}
	for s.at < len(s.text) && strings.IndexByte(ends, s.text[s.at]) < 0 {
		s.at++
	}
	word := strings.TrimSpace(s.text[start:s.at])
	if word == "" || strings.ContainsAny(word, "\"'[]{}=,") {
		s.at = start
		return s.wrong("missing value")
	}
	return nil
}

// long skips a multi-line string.
func (s *tomlScanner) long() error {
	quotes := s.text[s.at : s.at+3]
	for i := s.at + 3; i < len(s.text); i++ {
		if s.text[i] == '\\' && quotes[0] == '"' {
			i++
			continue
		}
		if strings.HasPrefix(s.text[i:], quotes) {
			for i += 3; i < len(s.text) && s.text[i] == quotes[0]; i++ { // up to two quotes belong to the string
			}
			s.at = i
			return nil
		}
	}
	return s.wrong("unterminated string")
}

// inside skips a list or an inline table.
func (s *tomlScanner) inside(closing byte, depth int) error {
	start := s.at
	s.at++
	for s.at < len(s.text) {
		s.blank(true)
		switch s.peek() {
		case closing:
			s.at++
			return nil
		case ',':
			s.at++
			continue
		}
		if s.at == len(s.text) {
			break
		}
		if closing == '}' {
			if _, err := s.key(); err != nil {
				return err
			}
			if s.peek() != '=' {
				return s.wrong("missing =")
			}
			s.at++
			s.blank(true)
		}
		before := s.at
		if err := s.value(depth+1, ",]}#\n"); err != nil {
			return err
		}
		if s.at == before {
			return s.wrong("missing value")
		}
	}
	s.at = start
	return s.wrong("unterminated array or inline table")
}
