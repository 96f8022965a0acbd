package envelope

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// errSyntax is the fault of every JSON text that does not follow RFC 8259.
var errSyntax = errors.New("is not well-formed JSON")

// jsonError is a fault in a JSON text and its place.
type jsonError struct {
	path string // like .rows[3].id, from the outermost value
	err  error
}

func (e *jsonError) Error() string { return e.path + " " + e.err.Error() }
func (e *jsonError) Unwrap() error { return e.err }

// canonicalizer rewrites one JSON text in one pass. Members are written in their order in the text, and sorted only if
// an object turns out to be unsorted.
type canonicalizer struct {
	src     []byte
	at      int
	out     []byte
	members []member // a stack: the members of the open objects
	scratch []byte
	depth   int // levels still allowed
}

// member is the position of an object's member in out, and its unescaped key.
type member struct {
	key        []byte
	start, end int
}

// Canonical returns the RFC 8785 form of one JSON value, nested at most two levels deeper than [MaxDepth]. It restores the
// bytes of a sealed envelope that was a JSON value in another document, whose writer may have escaped it differently.
// Errors are a [refusal.Error] with the code invalid that names the place of the fault.
func Canonical(src []byte) ([]byte, error) {
	out, err := canonical(src, MaxDepth+slack)
	if err != nil {
		return nil, badJSON("JSON", err)
	}
	return out, nil
}

// CheckData refuses JSON that [Seal] would refuse as an envelope's data: it has no canonical form, or is nested deeper than
// [MaxDepth]. Errors are a [refusal.Error] with the code invalid that names the place of the fault.
func CheckData(src []byte) error {
	if _, err := canonical(src, MaxDepth); err != nil {
		return badJSON("data", err)
	}
	return nil
}

// canonical returns the RFC 8785 form of src. It refuses text that has none or would silently lose information: invalid
// UTF-8, lone surrogates, duplicate keys, numbers beyond IEEE 754, whole numbers that would lose digits, and nesting
// deeper than maxDepth.
func canonical(src []byte, maxDepth int) ([]byte, error) {
	return new(canonicalizer).run(src, maxDepth)
}

func (c *canonicalizer) run(src []byte, maxDepth int) ([]byte, error) {
	if !utf8.Valid(src) {
		return nil, &jsonError{err: errors.New("is not valid UTF-8")}
	}
	c.src, c.depth = src, maxDepth
	c.out, c.members = make([]byte, 0, len(src)), make([]member, 0, 32)
	if err := c.value(); err != nil {
		return nil, err
	}
	c.space()
	if c.at != len(c.src) {
		return nil, &jsonError{err: fmt.Errorf("%w: more text after the value at byte %d", errSyntax, c.at)}
	}
	return c.out, nil
}

func (c *canonicalizer) space() {
	for c.at < len(c.src) {
		switch c.src[c.at] {
		case ' ', '\t', '\n', '\r':
			c.at++
		default:
			return
		}
	}
}

// next skips white space and returns the next byte without taking it; 0 at the end.
func (c *canonicalizer) next() byte {
	c.space()
	if c.at == len(c.src) {
		return 0
	}
	return c.src[c.at]
}

func (c *canonicalizer) syntax() error {
	return &jsonError{err: fmt.Errorf("%w at byte %d", errSyntax, c.at)}
}

func (c *canonicalizer) value() error {
	switch b := c.next(); b {
	case '{', '[':
		return c.nested(b == '{')
	case '"':
		_, err := c.str()
		return err
	case 't':
		return c.literal("true")
	case 'f':
		return c.literal("false")
	case 'n':
		return c.literal("null")
	default:
		return c.number()
	}
}

func (c *canonicalizer) literal(word string) error {
	if !bytes.HasPrefix(c.src[c.at:], []byte(word)) {
		return c.syntax()
	}
	c.at += len(word)
	c.out = append(c.out, word...)
	return nil
}

func (c *canonicalizer) nested(object bool) error {
	if c.depth == 0 {
		return &jsonError{err: errors.New("is nested too deeply")}
	}
	c.depth--
	c.at++
	var err error
	if object {
		err = c.object()
	} else {
		err = c.array()
	}
	c.depth++
	return err
}

func (c *canonicalizer) array() error {
	c.out = append(c.out, '[')
	for i := 0; ; i++ {
		if i == 0 && c.next() == ']' {
			break
		}
		if err := c.value(); err != nil {
			return within(err, "["+strconv.Itoa(i)+"]")
		}
		b := c.next()
		if b == ']' {
			break
		}
		if b != ',' {
			return c.syntax()
		}
		c.at++
		c.out = append(c.out, ',')
	}
	c.at++
	c.out = append(c.out, ']')
	return nil
}

func (c *canonicalizer) object() error {
	base, first := len(c.members), len(c.out)+1
	c.out = append(c.out, '{')
	for {
		b := c.next()
		if b == '}' && len(c.members) == base {
			break
		}
		if b != '"' {
			return c.syntax()
		}
		start := len(c.out)
		key, err := c.str()
		if err != nil {
			return err
		}
		if c.next() != ':' {
			return c.syntax()
		}
		c.at++
		c.out = append(c.out, ':')
		if err := c.value(); err != nil {
			return within(err, "."+brief(key))
		}
		c.members = append(c.members, member{key, start, len(c.out)})
		if b = c.next(); b == '}' {
			break
		}
		if b != ',' {
			return c.syntax()
		}
		c.at++
		c.out = append(c.out, ',')
	}
	c.at++
	err := c.sort(c.members[base:], first)
	c.members = c.members[:base]
	c.out = append(c.out, '}')
	return err
}

// sort sorts the members of one object, written from out[first:], and refuses duplicates.
func (c *canonicalizer) sort(members []member, first int) error {
	byKey := func(a, b member) int { return compareUTF16(a.key, b.key) }
	sorted := slices.IsSortedFunc(members, byKey)
	if !sorted {
		slices.SortFunc(members, byKey)
	}
	for i := 1; i < len(members); i++ {
		if bytes.Equal(members[i-1].key, members[i].key) {
			return &jsonError{err: fmt.Errorf("has the key %q twice", brief(members[i].key))}
		}
	}
	if sorted {
		return nil
	}
	if cap(c.scratch) == 0 {
		c.scratch = make([]byte, 0, len(c.src))
	}
	c.scratch = append(c.scratch[:0], c.out[first:]...)
	c.out = c.out[:first]
	for i, m := range members {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, c.scratch[m.start-first:m.end-first]...)
	}
	return nil
}

// within prepends one step to the path of an error.
func within(err error, step string) error {
	var j *jsonError
	if errors.As(err, &j) {
		return &jsonError{path: step + j.path, err: j.err}
	}
	return err
}

// brief shortens a key for an error message.
func brief(key []byte) string {
	if len(key) > 40 {
		return string(bytes.ToValidUTF8(key[:40], nil)) + "…"
	}
	return string(key)
}
