package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The vocabulary is the words of the items that everybody in a workspace reads (the scope is the workspace), and for each owner those of its
// other items; each with the number of titles, tags and texts that have it. A search takes from it the words that are close to one that few items have: with a letter more, less, different or exchanged
// with the next (a typing error), with another ending, or put together with others as German does it.

// Bounds of the words of the vocabulary, in characters.
const minWord, maxWord = 4, 40

// maxLearned is the number of words of one text that are learned. Each is a row that is written in the transaction of the item.
const maxLearned = 2000

// vocabularyWords are the words of an indexed text that are in the vocabulary, each once: the first so many.
func vocabularyWords(indexed string) []string {
	var list []string
	seen := map[string]bool{}
	for w := range strings.FieldsFuncSeq(indexed, func(r rune) bool { return !alphanumeric(r) }) {
		if len(list) == maxLearned {
			break
		}
		if w = plainWord(w); w != "" && !frequent[w] && !seen[w] {
			seen[w] = true
			list = append(list, w)
		}
	}
	return list
}

// plainWord is a word in lower case without accents; empty if it is too short or too long, or does not consist of letters.
func plainWord(w string) string {
	w = trimmed(w)
	if len(w) < minWord || len(w) > maxWord*utf8.UTFMax {
		return ""
	}
	ascii := true
	for i := range len(w) {
		if c := w[i]; c >= 0x80 {
			ascii = false
		} else if c < 'A' || c > 'z' || c > 'Z' && c < 'a' {
			return ""
		}
	}
	w = strings.ToLower(w)
	if !ascii {
		w = strings.Map(func(r rune) rune {
			switch {
			case unicode.IsMark(r):
				return -1
			case !unicode.IsLetter(r) || unspaced(r):
				return 0
			}
			return r
		}, norm.NFD.String(w))
		if strings.ContainsRune(w, 0) {
			return ""
		}
	}
	if n := utf8.RuneCountInString(w); n < minWord || n > maxWord {
		return ""
	}
	return w
}

// endings are the endings of German and English words that are ignored in the comparison of words, the longest first.
var endings = []string{"ungen", "ung", "ern", "est", "en", "er", "em", "es", "ed", "e", "n", "s", "t"}

// stem is a word without its ending, of at least four letters.
func stem(w string) string {
	for _, ending := range endings {
		if len(w)-len(ending) >= minWord && strings.HasSuffix(w, ending) {
			return w[:len(w)-len(ending)]
		}
	}
	return w
}

// reversed is a word from its end to its beginning.
func reversed(w string) string {
	rs := []rune(w)
	slices.Reverse(rs)
	return string(rs)
}

// ending is the key of the vocabulary's index by endings.
func ending(w string) string { return reversed(withoutInflection(w)) }

// withoutInflection is a word without the ending of a plural or a case.
func withoutInflection(w string) string {
	for _, ending := range []string{"en", "es", "er", "em", "e", "n", "s"} {
		if len(w)-len(ending) >= minWord && strings.HasSuffix(w, ending) {
			return w[:len(w)-len(ending)]
		}
	}
	return w
}

// scripts are the letters that a typing error may have replaced or left out.
var scripts = []string{"abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюяё", "αβγδεζηθικλμνξοπρσςτυφχψω"}

// neighbours are the words at one typing error from w: one letter more, less, different, or exchanged with the next.
func neighbours(w string) (list []string) {
	rs := []rune(w)
	letters := ""
	for _, s := range scripts {
		if strings.ContainsRune(s, rs[0]) {
			letters = s
		}
	}
	with := func(from, to int, mid ...rune) {
		list = append(list, string(slices.Concat(rs[:from], mid, rs[to:])))
	}
	for i := range len(rs) + 1 {
		for _, r := range letters {
			with(i, i, r)
			if i < len(rs) && r != rs[i] {
				with(i, i+1, r)
			}
		}
		if i < len(rs) {
			with(i, i+1)
		}
		if i+1 < len(rs) && rs[i] != rs[i+1] {
			with(i, i+2, rs[i+1], rs[i])
		}
	}
	return list
}

// minCompound is the least length of a word that is taken apart.
const minCompound = 9

// halves are the ways to take a word apart in two, each of at least four letters; the first half also without the letters
// that join it to the second in German.
func halves(w string) (list [][2]string) {
	if !ascii(w) || len(w) < minCompound {
		return nil
	}
	for i := minWord; i+minWord <= len(w); i++ {
		first, second := w[:i], w[i:]
		list = append(list, [2]string{first, second})
		for _, joint := range []string{"s", "es", "n", "en", "er"} {
			if short, ok := strings.CutSuffix(first, joint); ok && len(short) >= minWord {
				list = append(list, [2]string{short, second})
			}
		}
	}
	return list
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
