package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/trapezehq/trapeze/internal/record/view"
)

// The index of words (SQLite FTS5) splits at characters that are neither letters nor digits, ignores case and accents, and
// stems English words. What it gets is prepared here:
//
//   - Compatibility characters, such as those of full width, are the usual ones (Unicode NFKC), and letters such as ß and ı are those that people
//     write for them: ss and i.
//   - Identifiers are indexed whole and in their parts: getUserById also as "get User By Id", user_id and user-id also as "userid".
//   - Chinese, Japanese and Korean have no spaces between words, so a run of their characters becomes its pairs: 连接池 is 连接 接池 池.
//     The last character stands alone too, so that each character begins a word.

const maxPart, maxParts = 40, 8 // bytes of an identifier's joined form, and its parts

// indexed prepares a text for the index. indexed(indexed(s)) need not be indexed(s).
func indexed(text string) string {
	text = fold(text)
	var out, more strings.Builder
	out.Grow(len(text) + len(text)/4)
	pairs := func(run []rune) {
		for i := range run {
			out.WriteByte(' ')
			out.WriteString(string(run[i:min(i+2, len(run))]))
		}
		out.WriteByte(' ')
	}
	var run []rune
	word := -1 // where the current word began
	end := func(at int) {
		if word >= 0 {
			for _, form := range otherForms(text[word:at]) {
				more.WriteByte(' ')
				more.WriteString(form)
			}
		}
		word = -1
	}
	for at, r := range text {
		if unspaced(r) {
			end(at)
			run = append(run, r)
			continue
		}
		if len(run) > 0 {
			pairs(run)
			run = run[:0]
		}
		out.WriteRune(r)
		switch inWord := alphanumeric(r) || r == '_' || r == '-'; {
		case inWord && word < 0:
			word = at
		case !inWord:
			end(at)
		}
	}
	end(len(text))
	if len(run) > 0 {
		pairs(run)
	}
	return out.String() + more.String()
}

// fold writes the variants of a character in one way, as far as the index does not.
func fold(text string) string {
	return variants.Replace(unaccented(strings.ToValidUTF8(norm.NFKC.String(text), " ")))
}

// unaccented leaves out what the index does not ignore and people do not type: accents of Greek, stress marks, the vowel signs of Hebrew and
// Arabic, and the line that makes an Arabic word longer. Marks that make another letter of one, as in й, stay.
func unaccented(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= 0x300 && (untyped(r) || greek(r)) }) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x300:
			return r
		case untyped(r):
			return -1
		case greek(r):
			base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r)))
			return base
		}
		return r
	}, text)
}

func greek(r rune) bool { return r >= 0x370 && r < 0x400 || r >= 0x1f00 && r < 0x2000 }

// untyped reports whether a character is a mark of a script where words are usually written without it.
func untyped(r rune) bool {
	const tatweel = '\u0640'
	return r == tatweel || r < 0x700 && unicode.Is(unicode.Mn, r) && (r < 0x370 || r >= 0x591)
}

// variants are letters that people also write, or type, in another way, and that are no letters with accents.
var variants = strings.NewReplacer("ß", "ss", "ẞ", "SS", "ı", "i", "ø", "o", "Ø", "O", "ł", "l", "Ł", "L", "đ", "d", "Đ", "D",
	"æ", "ae", "Æ", "AE", "œ", "oe", "Œ", "OE", "ς", "σ", "ё", "е", "Ё", "Е",
	"\u064a", "\u06cc", "\u0649", "\u06cc", "\u0643", "\u06a9", "\u0629", "\u0647") // Arabic yeh, alef maksura, kaf and marbuta as Persian letters

// unspaced reports whether a character is of a script that is written without spaces, or with particles tied to its words.
func unspaced(r rune) bool {
	return r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー')
}

func alphanumeric(r rune) bool {
	return r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') ||
		r >= 0x80 && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
}

// otherForms are the forms, beside its own, in which a word is indexed or searched for: an identifier's parts, separated by
// blanks, and those of _ and - joined.
func otherForms(word string) (forms []string) {
	parts := identifierParts(word, true)
	if len(parts) < 2 || len(parts) > maxParts {
		return nil
	}
	if split := strings.Join(parts, " "); split != strings.Map(separators, word) {
		forms = append(forms, split)
	}
	if joined := strings.Join(parts, ""); joined != word && len(joined) <= maxPart {
		forms = append(forms, joined)
	}
	return forms
}

func separators(r rune) rune {
	if r == '_' || r == '-' {
		return ' '
	}
	return r
}

// identifierParts splits a word at _ and -, between lower and upper case, before the last letter of a run of upper case that
// lower case follows (HTTPRequest), and, if asked for, between letters and digits.
func identifierParts(word string, digits bool) (parts []string) {
	rs := []rune(word)
	from := 0
	cut := func(at int) {
		if at > from {
			parts = append(parts, string(rs[from:at]))
		}
		from = at
	}
	for i, r := range rs {
		switch {
		case r == '_' || r == '-':
			cut(i)
			from = i + 1
		case i == from:
		case digits && unicode.IsDigit(r) != unicode.IsDigit(rs[i-1]) && !unicode.IsMark(r):
			cut(i)
		case unicode.IsUpper(r) && unicode.IsLower(rs[i-1]):
			cut(i)
		case unicode.IsLower(r) && unicode.IsUpper(rs[i-1]) && i-1 > from && !plural(rs[i:]):
			cut(i - 1)
		}
	}
	cut(len(rs))
	return parts
}

// plural reports whether a rest is the s of a plural, as in URLs.
func plural(rest []rune) bool {
	return rest[0] == 's' && (len(rest) == 1 || !unicode.IsLower(rest[1]))
}

// word is one word of a search.
type word struct {
	match  string  // the query of the index
	plain  string  // for the vocabulary: folded; empty if it is none of its words
	weight float64 // of a hit
}

const wholeWord, partOfWord = 1.0, 0.5

// matches returns the words of a text. Each is quoted in its query, so that the index does not interpret it; a string
// without a letter or a digit is not a word. Words that nearly every text has are omitted if there are others. If there are too
// many, those that stand between blanks come first.
func matches(text string) []word {
	m := matcher{seen: map[string]bool{}}
	for w := range strings.FieldsFuncSeq(fold(text), func(r rune) bool { return r == '"' || unicode.IsSpace(r) || unicode.IsControl(r) }) {
		if strings.ContainsFunc(w, unspaced) {
			m.split(w)
		} else {
			m.add(&m.words, w)
		}
	}
	words := slices.Concat(m.words, m.runs, m.parts)
	if len(words) == 0 {
		words = m.idle
	}
	return words[:min(len(words), view.MaxWords)]
}

// matcher collects the words of a search.
type matcher struct {
	words, runs, parts []word // between blanks; of what is written without blanks; parts of identifiers
	idle               []word // nearly every text has them
	seen               map[string]bool
}

// split adds each run of characters of a script without blanks, and what is between them.
func (m *matcher) split(text string) {
	from, in := 0, false
	for at, r := range text {
		if is := unspaced(r); is != in {
			m.run(text[from:at], in)
			from, in = at, is
		}
	}
	m.run(text[from:], in)
}

func (m *matcher) run(text string, pairs bool) {
	if !pairs {
		m.add(&m.runs, text)
		return
	}
	rs := []rune(text)
	if len(rs) == 1 {
		m.put(&m.runs, word{match: quote(text) + " *", weight: wholeWord})
	}
	for i := range len(rs) - 1 {
		to := &m.runs
		if len(rs) > 2 && unicode.Is(unicode.Hiragana, rs[i]) && unicode.Is(unicode.Hiragana, rs[i+1]) {
			to = &m.idle // it is rather grammar
		}
		m.put(to, word{match: quote(string(rs[i : i+2])), weight: wholeWord})
	}
}

func quote(s string) string { return `"` + s + `"` }

// add adds a word of a script with blanks.
func (m *matcher) add(to *[]word, text string) {
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return
	}
	if frequent[strings.ToLower(text)] {
		to = &m.idle
	}
	w := word{match: quote(text), weight: wholeWord, plain: plainWord(text)}
	for _, form := range append(otherForms(trimmed(text)), spellings(text)...) {
		w.match += " OR " + quote(form)
	}
	m.put(to, w)
	if parts := identifierParts(trimmed(text), false); len(parts) > 1 && len(parts) <= maxParts && !strings.ContainsRune(text, '-') {
		for _, part := range parts {
			if len(part) > 1 && !frequent[strings.ToLower(part)] {
				m.put(&m.parts, word{match: quote(part), weight: partOfWord})
			}
		}
	}
}

// put adds a word that was not added before.
func (m *matcher) put(to *[]word, w word) {
	if len(*to) < view.MaxWords && !m.seen[w.match] {
		m.seen[w.match] = true
		*to = append(*to, w)
	}
}

// trimmed is a word without what stands before its first and after its last letter or digit.
func trimmed(word string) string {
	return strings.TrimFunc(word, func(r rune) bool { return !alphanumeric(r) })
}

// spellings are other spellings of a word with German umlauts: für and fuer, each also for the other.
func spellings(text string) []string {
	lower := strings.ToLower(text)
	if s := umlauts.Replace(lower); s != lower {
		return []string{s}
	}
	if s := digraphs.Replace(lower); s != lower {
		return []string{s}
	}
	return nil
}

var (
	umlauts  = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue")
	digraphs = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")
)

// frequent are the stop words: words that nearly every English or German text has.
var frequent = func() map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(`a about after all also an and any are as at be because been but by can could did do does for from
		had has have he her his how i if in into is it its me more most my no not of on one or our out she should so some than that the their
		them then there these they this to up us was we were what when where which who why will with would you your
		als auf aus bei bin bis das dass dem den der des die ein eine einem einen einer eines für ist mit nach nicht oder sich sie sind
		über und vom von vor wie wir wird zu zum zur`) {
		set[word] = true
	}
	return set
}()
