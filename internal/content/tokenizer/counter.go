package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// The tokenizers that are counted exactly. The first is the default.
const (
	O200kBase  = "o200k_base"
	Cl100kBase = "cl100k_base"
)

// maxName is the greatest length of the name of a tokenizer, in bytes.
const maxName = 100

// Counter counts tokens as one tokenizer does. The zero value counts as the default tokenizer.
type Counter struct {
	name string
	// vocabulary is nil for an estimate.
	vocabulary func() *vocabulary
}

// For returns the counter of a tokenizer by its name; empty means [O200kBase]. Any name is accepted, but only the two
// built-in ones are counted exactly: see [Counter.Estimate]. The error is a [refusal.Error] with the code invalid, for
// malformed names.
func For(name string) (Counter, error) {
	switch name {
	case "", O200kBase:
		return Counter{name: O200kBase, vocabulary: o200kBase}, nil
	case Cl100kBase:
		return Counter{name: Cl100kBase, vocabulary: cl100kBase}, nil
	}
	printable := func(r rune) bool { return r > ' ' && r <= '~' }
	if len(name) > maxName || strings.TrimFunc(name, printable) != "" || strings.ContainsFunc(name, func(r rune) bool { return !printable(r) }) {
		return Counter{}, refusal.New(refusal.Invalid, "name it like "+O200kBase+": ASCII without spaces, at most 100 bytes",
			"%.40q is not the name of a tokenizer", name)
	}
	return Counter{name: name}, nil
}

// Name is the name of the tokenizer.
func (c Counter) Name() string {
	if c.name == "" {
		return O200kBase
	}
	return c.name
}

// Estimate reports whether all counts are upper bounds rather than exact; see [Counter.AtMost] for those of one text.
func (c Counter) Estimate() bool { return c.name != "" && c.vocabulary == nil }

// AtMost reports whether the count of a text is an upper bound: also one of a built-in vocabulary where a line of blanks is in the text,
// since the library splits there what the vocabularies keep together.
func (c Counter) AtMost(text string) bool { return c.Estimate() || hasBlankLine(text) }

// hasBlankLine reports whether there is white space with other characters in it between two line ends.
func hasBlankLine(text string) bool {
	for {
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			return false
		}
		text = strings.TrimLeft(text[i:], "\r\n")
		rest := strings.TrimLeftFunc(text, func(r rune) bool { return r != '\r' && r != '\n' && unicode.IsSpace(r) })
		if len(rest) < len(text) && rest != "" && (rest[0] == '\r' || rest[0] == '\n') {
			return true
		}
		text = rest
	}
}

// Count returns the number of tokens of text, without those that the interface of a receiver adds around it. Each run of
// invalid UTF-8 is counted as U+FFFD, and each DEL (U+007F) as one token: the library skips it.
//
// Count(a+b) = Count(a)+Count(b) if a ends with a line feed and b begins with a graphic ASCII character other than a
// slash: no token of the built-in vocabularies spans such a boundary, and the text on one side has no influence on the
// other.
func (c Counter) Count(text string) int {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if c.Estimate() {
		return len(text)
	}
	load := c.vocabulary
	if load == nil {
		load = o200kBase
	}
	if text == "" {
		return 0
	}
	v, n := load(), 0
	for text != "" {
		end := boundary(text)
		n += v.count(text[:end])
		text = text[end:]
	}
	return n
}

// boundary returns the end of the first chunk of text: after the first line feed that is followed by a graphic ASCII
// character other than a slash. The vocabularies split a text by a pattern before they look for tokens. Within one match
// of it, a line feed is only followed by more white space, or by slashes after punctuation; and the one look-ahead of the
// pattern is never tried on white space that ends with a line feed.
func boundary(text string) int {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 || at+i+1 == len(text) {
			return len(text)
		}
		at += i + 1
		if b := text[at]; graphic(b) && b != '/' {
			return at
		}
	}
}
