package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what the vocabularies' patterns tell characters apart by.
type kind uint8

const (
	upper    kind = 1 << iota // Lu, Lt
	small                     // Ll
	caseless                  // Lm, Lo
	mark                      // M
	number                    // N
	space
	lineEnd // CR and LF, which are space, too
	del     // U+007F, which the library skips, and which is a piece here

	letter = upper | small | caseless
)

var asciiKinds = func() (kinds [utf8.RuneSelf]kind) {
	for r := range kinds {
		kinds[r] = kindIn(rune(r))
	}
	kinds['\r'] |= lineEnd
	kinds['\n'] |= lineEnd
	kinds['\x7f'] = del
	return kinds
}()

// first is the kind of the first character of a text, and its length; 0 at the end.
func first(text string) (kind, int) {
	if text == "" {
		return 0, 0
	}
	if text[0] < utf8.RuneSelf {
		return asciiKinds[text[0]], 1
	}
	r, size := utf8.DecodeRuneInString(text)
	return kindIn(r), size
}

func kindIn(r rune) kind {
	switch {
	case unicode.Is(unicode.Ll, r):
		return small
	case unicode.In(r, unicode.Lo, unicode.Lm):
		return caseless
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper
	case unicode.Is(unicode.M, r):
		return mark
	case unicode.Is(unicode.N, r):
		return number
	case unicode.IsSpace(r):
		return space
	}
	return 0
}

// run is the length of the longest start of a text with characters of these kinds alone.
func run(text string, kinds kind) int {
	for at := 0; ; {
		k, size := first(text[at:])
		if k&kinds == 0 {
			return at
		}
		at += size
	}
}

// splitO200k returns the length of the first piece of a text that is not empty, by the pattern
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
func splitO200k(text string) int {
	before := lead(text)
	for _, word := range []func(string) int{mixedCase, upperCase} {
		if n := word(text[before:]); n > 0 {
			n += before
			return n + contraction(text[n:])
		}
		if n := word(text); n > 0 { // a mark is no lead, but a part of the word
			return n + contraction(text[n:])
		}
	}
	return splitOther(text, "\r\n/")
}

// mixedCase is the length of a word: upper case, then at least one letter that is not. Of the letters without case, as many as can be belong to
// the first part: where nothing follows it, the last of them is the second.
func mixedCase(text string) int {
	start := run(text, upper|caseless|mark)
	if n := run(text[start:], small|caseless|mark); n > 0 {
		return start + n
	}
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if kindIn(r)&(caseless|mark) != 0 {
			return start
		}
		start -= size
	}
	return 0
}

// upperCase is the length of a word that [mixedCase] does not find.
func upperCase(text string) int { return run(text, upper|caseless|mark) }

// splitCl100k is splitO200k for the pattern
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func splitCl100k(text string) int {
	if n := contraction(text); n > 0 {
		return n
	}
	before := lead(text)
	if n := run(text[before:], letter); n > 0 {
		return before + n
	}
	return splitOther(text, "\r\n")
}

// lead is the length of the one character that a word may have before it.
func lead(text string) int {
	if k, size := first(text); k&(letter|number|lineEnd|del) == 0 {
		return size
	}
	return 0
}

// contraction is the length of the end of a word such as that of they're.
func contraction(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] {
	case 's', 'S', 't', 'T', 'm', 'M', 'd', 'D':
		return 2
	}
	for _, end := range [...]string{"'re", "'ve", "'ll"} {
		if len(text) >= len(end) && strings.EqualFold(text[:len(end)], end) {
			return len(end)
		}
	}
	if strings.HasPrefix(text, "'ſ") { // U+017F, the long s, whose upper case is S
		return len("'ſ")
	}
	return 0
}

// splitOther is for a text that begins with no word. The ends are what belongs to symbols before it.
func splitOther(text, ends string) int {
	at := 0
	for range 3 {
		if k, size := first(text[at:]); k == number {
			at += size
		}
	}
	if at > 0 {
		return at
	}
	switch text[0] {
	case '\x7f':
		return 1
	case ' ':
		at = 1
	}
	if n := symbols(text[at:]); n > 0 {
		n += at
		return n + len(text[n:]) - len(strings.TrimLeft(text[n:], ends))
	}
	return blanks(text)
}

// symbols is the length of the longest start of a text without space, letters and numbers.
func symbols(text string) int {
	for at := 0; ; {
		k, size := first(text[at:])
		if size == 0 || k&(space|letter|number|del) != 0 {
			return at
		}
		at += size
	}
}

// blanks is the length of the white space at the start of a text, up to its first run of line ends: the library splits after that run, although the pattern would after the last.
// Without line ends, the last character belongs to what follows, if something does and another remains.
func blanks(text string) int {
	at, last := 0, 0
	for at < len(text) {
		k, size := first(text[at:])
		if k&lineEnd != 0 {
			return at + run(text[at:], lineEnd)
		}
		if k&space == 0 {
			break
		}
		at, last = at+size, at
	}
	if at < len(text) && last > 0 {
		return last
	}
	return at
}
