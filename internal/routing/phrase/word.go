package phrase

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// word is a token of a sentence: a word in lower case, a quotation unchanged, or a mark.
type word struct {
	text       string
	quoted     bool
	mark       bool // one of . ; ! ? : ,
	start, end int  // in the text
}

// is reports whether w is an unquoted word or a mark with this text.
func (w word) is(text string) bool { return !w.quoted && w.text == text }

// marks end a clause, or announce a reason.
const marks = ".;!?:,"

// wordsOf splits a text into tokens. It folds only the letters A to Z, so that no two names become equal otherwise.
func wordsOf(text string) ([]word, error) {
	var list []word
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case unicode.IsSpace(r):
			at += size
		case opens(r):
			w, err := quotedAt(text, at, r, size)
			if err != nil {
				return nil, err
			}
			list, at = append(list, w), w.end
		case strings.ContainsRune(marks, r):
			list = append(list, word{text: string(r), mark: true, start: at, end: at + size})
			at += size
		case r == '—' || r == '–':
			list = append(list, word{text: ":", mark: true, start: at, end: at + size})
			at += size
		default:
			found := wordAt(text, at)
			list, at = append(list, found...), found[len(found)-1].end
		}
	}
	return list, nil
}

// closing maps each opening quote to the quotes that end the quotation.
var closing = map[rune]string{'"': `"`, '“': `"”`, '„': `"”“`, '«': "»", '`': "`", '\'': "'’", '‘': "'’"}

func opens(r rune) bool { return closing[r] != "" }

// quotedAt reads a quotation. Between straight double quotes a backslash escapes the next character.
func quotedAt(text string, at int, open rune, size int) (word, error) {
	var b strings.Builder
	for i := at + size; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		switch {
		case r == '\\' && open == '"' && i < len(text):
			escaped, m := utf8.DecodeRuneInString(text[i:])
			i += m
			switch escaped {
			case 'n':
				escaped = '\n'
			case 't':
				escaped = '\t'
			}
			b.WriteRune(escaped)
		case strings.ContainsRune(closing[open], r) && !within(text, i, open):
			return word{text: b.String(), quoted: true, start: at, end: i}, nil
		default:
			b.WriteRune(r)
		}
	}
	return word{}, refusal.New(refusal.Invalid, "close the quotes, or remove them", "a quotation begins at byte %d and does not end", at+1).
		With("why", NotUnderstood)
}

// within reports whether the apostrophe before i is inside a word and so does not end a quotation.
func within(text string, i int, open rune) bool {
	r, _ := utf8.DecodeRuneInString(text[i:])
	return (open == '\'' || open == '‘') && unicode.IsLetter(r)
}

// wordAt reads the word at an index and expands contractions. Marks at its end are not part of it.
func wordAt(text string, at int) []word {
	end := len(text)
	for i, r := range text[at:] {
		if unicode.IsSpace(r) || r == '—' || r == '–' || i > 0 && r != '\'' && r != '’' && opens(r) || strings.ContainsRune(";!?:,", r) {
			end = at + i
			break
		}
	}
	end = at + len(strings.TrimRight(text[at:end], "."))
	if end == at { // not reached for dots alone, which are marks
		end = at + 1
	}
	plain := fold(text[at:end])
	switch plain {
	case "-", "--":
		return []word{{text: ":", mark: true, start: at, end: end}}
	}
	if long, ok := short[plain]; ok {
		var list []word
		for w := range strings.FieldsSeq(long) {
			list = append(list, word{text: w, start: at, end: end})
		}
		return list
	}
	if name, ok := strings.CutSuffix(plain, "'s"); ok && name != "" {
		return []word{{text: name, start: at, end: end - 2}, {text: "'s", start: end - 2, end: end}}
	}
	return []word{{text: plain, start: at, end: end}}
}

// fold returns a word in lower case, with ASCII apostrophes and hyphens.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case r == '’':
			return '\''
		case r == '‐' || r == '‑':
			return '-'
		}
		return r
	}, s)
}

// short maps contractions and abbreviations to the full words.
var short = map[string]string{
	"what's": "what is", "who's": "who is", "it's": "it is", "that's": "that is", "let's": "let us", "where's": "where is",
	"i'd": "i would", "i'll": "i will", "i'm": "i am", "i've": "i have", "we'd": "we would", "we'll": "we will", "we're": "we are",
	"don't": "do not", "dont": "do not", "doesn't": "does not", "doesnt": "does not", "didn't": "did not", "isn't": "is not", "isnt": "is not",
	"aren't": "are not", "wasn't": "was not", "won't": "will not", "wouldn't": "would not", "shouldn't": "should not",
	"can't": "can not", "cannot": "can not", "cant": "can not", "couldn't": "could not", "hasn't": "has not", "haven't": "have not",
	"mustn't": "must not", "needn't": "need not", "whats": "what is", "pls": "please", "plz": "please",
}
