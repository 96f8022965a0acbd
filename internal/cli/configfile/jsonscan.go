package configfile

import (
	"encoding/json"
	"strings"
)

// maxDepth is the maximum nesting of values.
const maxDepth = 200

// node is a value in a JSON text, with its offsets. Comments and trailing commas are allowed, as editors allow them.
type node struct {
	kind       byte // '{', '[', '"' or 'v' for the rest
	start, end int
	members    []member
	elements   []*node
}

type member struct {
	name     string
	keyStart int
	value    *node
}

// find is the last member of a name: it overrides earlier ones.
func (n *node) find(name string) *node {
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].name == name {
			return n.members[i].value
		}
	}
	return nil
}

// last is the end of the last part of an object or list; ok is false if it is empty.
func (n *node) last() (end int, ok bool) {
	switch {
	case len(n.members) > 0:
		return n.members[len(n.members)-1].value.end, true
	case len(n.elements) > 0:
		return n.elements[len(n.elements)-1].end, true
	}
	return 0, false
}

// first is the start of the first part.
func (n *node) first() int {
	if len(n.members) > 0 {
		return n.members[0].keyStart
	}
	return n.elements[0].start
}

type scanner struct {
	text string
	at   int
}

// parse parses a text. It returns nil for a text without a value.
func parse(text string) (*node, error) {
	s := &scanner{text: text}
	if strings.HasPrefix(text, "\ufeff") {
		s.at = len("\ufeff")
	}
	if err := s.space(); err != nil {
		return nil, err
	}
	if s.at == len(text) {
		return nil, nil //nolint:nilnil // an empty file is valid
	}
	n, err := s.value(0)
	if err != nil {
		return nil, err
	}
	if err := s.space(); err != nil {
		return nil, err
	}
	if s.at < len(text) {
		return nil, s.wrong("unexpected text after the value")
	}
	return n, nil
}

func (s *scanner) wrong(what string) error { return broken(s.text, s.at, what) }

// space skips white space and comments.
func (s *scanner) space() error {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			s.at++
		case strings.HasPrefix(rest, "//"):
			if end := strings.IndexByte(rest, '\n'); end >= 0 {
				s.at += end
			} else {
				s.at = len(s.text)
			}
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return s.wrong("unterminated comment")
			}
			s.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *scanner) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, s.wrong("values are nested too deeply")
	}
	n := &node{kind: s.peek(), start: s.at}
	var err error
	switch n.kind {
	case '{', '[':
		err = s.parts(n, depth)
	case '"':
		_, err = s.word()
	default:
		n.kind = 'v'
		for s.at < len(s.text) && strings.IndexByte(" \t\r\n,]}/:", s.text[s.at]) < 0 {
			s.at++
		}
		if !json.Valid([]byte(s.text[n.start:s.at])) {
			s.at = n.start
			err = s.wrong("invalid value")
		}
	}
	n.end = s.at
	return n, err
}

// parts parses an object or a list.
func (s *scanner) parts(n *node, depth int) error {
	closing := byte('}')
	if n.kind == '[' {
		closing = ']'
	}
	s.at++
	for {
		if err := s.space(); err != nil {
			return err
		}
		if s.peek() == closing {
			s.at++
			return nil
		}
		if err := s.part(n, depth); err != nil {
			return err
		}
		if err := s.space(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.at++
		case closing:
		default:
			return s.wrong("missing comma or closing bracket")
		}
	}
}

func (s *scanner) part(n *node, depth int) error {
	if n.kind == '[' {
		v, err := s.value(depth + 1)
		n.elements = append(n.elements, v)
		return err
	}
	m := member{keyStart: s.at}
	var err error
	if m.name, err = s.word(); err != nil {
		return err
	}
	if err := s.space(); err != nil {
		return err
	}
	if s.peek() != ':' {
		return s.wrong("missing colon")
	}
	s.at++
	if err := s.space(); err != nil {
		return err
	}
	m.value, err = s.value(depth + 1)
	n.members = append(n.members, m)
	return err
}

// word parses a string.
func (s *scanner) word() (text string, err error) {
	start := s.at
	if s.peek() != '"' {
		return "", s.wrong("missing name in quotation marks")
	}
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			if err := json.Unmarshal([]byte(s.text[start:s.at]), &text); err != nil {
				s.at = start
				return "", s.wrong("invalid string")
			}
			return text, nil
		}
	}
	s.at = start
	return "", s.wrong("unterminated string")
}

// plain is a node as JSON without comments and trailing commas.
func (n *node) plain(text string) string {
	var b strings.Builder
	n.write(text, &b)
	return b.String()
}

func (n *node) write(text string, b *strings.Builder) {
	switch n.kind {
	case '{':
		b.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(scalar(m.name) + ":")
			m.value.write(text, b)
		}
		b.WriteByte('}')
	case '[':
		b.WriteByte('[')
		for i, e := range n.elements {
			if i > 0 {
				b.WriteByte(',')
			}
			e.write(text, b)
		}
		b.WriteByte(']')
	default:
		b.WriteString(text[n.start:n.end])
	}
}
