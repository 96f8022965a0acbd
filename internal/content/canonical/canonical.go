package canonical

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

// Error is a fault in a JSON text and its place.
type Error struct {
	Path string // like .rows[3].id, from the outermost value
	Err  error
}

func (e *Error) Error() string { return e.Path + " " + e.Err.Error() }

// Unwrap returns the fault without its place.
func (e *Error) Unwrap() error { return e.Err }

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

// JSON returns the RFC 8785 form of src. It refuses text that has none or would silently lose information: invalid
// UTF-8, lone surrogates, duplicate keys, numbers beyond IEEE 754, whole numbers that would lose digits, and nesting
// deeper than maxDepth levels. Errors are an [*Error].
func JSON(src []byte, maxDepth int) ([]byte, error) { return new(Writer).JSON(src, maxDepth) }

// memberSize is the size of a member in memory.
const memberSize = 40

// Writer is [JSON] with memory that is used again. It is not safe for several goroutines at once.
type Writer struct {
	out, scratch []byte
	members      []member
}

// Kept is the number of bytes that the writer holds for the next text.
func (w *Writer) Kept() int {
	return cap(w.out) + cap(w.scratch) + cap(w.members)*memberSize
}

// JSON is the function of that name. The caller owns the result.
func (w *Writer) JSON(src []byte, maxDepth int) ([]byte, error) {
	return w.write(make([]byte, 0, len(src)), src, maxDepth)
}

// Temporary is [Writer.JSON] for a caller that does not keep the result: it is valid until the next call.
func (w *Writer) Temporary(src []byte, maxDepth int) ([]byte, error) {
	if cap(w.out) < len(src) {
		w.out = make([]byte, 0, len(src))
	}
	out, err := w.write(w.out[:0], src, maxDepth)
	if err == nil {
		w.out = out
	}
	return out, err
}

// write writes src to out.
func (w *Writer) write(out, src []byte, maxDepth int) ([]byte, error) {
	if w.members == nil {
		w.members = make([]member, 0, 32)
	}
	c := canonicalizer{out: out, scratch: w.scratch[:0], members: w.members[:0]}
	out, err := c.run(src, maxDepth)
	w.scratch, w.members = c.scratch, c.members
	return out, err
}

func (c *canonicalizer) run(src []byte, maxDepth int) ([]byte, error) {
	if !utf8.Valid(src) {
		return nil, &Error{Err: errors.New("is not valid UTF-8")}
	}
	c.src, c.depth = src, maxDepth
	if err := c.value(); err != nil {
		return nil, err
	}
	c.space()
	if c.at != len(c.src) {
		return nil, &Error{Err: fmt.Errorf("%w: more text after the value at byte %d", errSyntax, c.at)}
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
	return &Error{Err: fmt.Errorf("%w at byte %d", errSyntax, c.at)}
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
		return &Error{Err: errors.New("is nested too deeply")}
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
			return within(err, "."+Brief(key))
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
			return &Error{Err: fmt.Errorf("has the key %q twice", Brief(members[i].key))}
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
	var j *Error
	if errors.As(err, &j) {
		return &Error{Path: step + j.Path, Err: j.Err}
	}
	return err
}

// Brief shortens a key for an error message.
func Brief(key []byte) string {
	if len(key) > 40 {
		return string(bytes.ToValidUTF8(key[:40], nil)) + "…"
	}
	return string(key)
}
