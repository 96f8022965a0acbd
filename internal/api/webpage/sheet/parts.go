package sheet

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parts is a text whose middle differs from that of another text.
type Parts struct{ Before, Middle, After string }

// Apart returns two texts as what they have in common at both ends, in whole words, and what lies between.
func Apart(a, b string) (Parts, Parts) {
	first, second := words(a), words(b)
	n := 0
	for n < min(len(first), len(second)) && first[n] == second[n] {
		n++
	}
	before := strings.Join(first[:n], "")
	first, second = first[n:], second[n:]
	i, j := len(first), len(second)
	for i > 0 && j > 0 && first[i-1] == second[j-1] {
		i, j = i-1, j-1
	}
	after := strings.Join(first[i:], "")
	return Parts{before, strings.Join(first[:i], ""), after}, Parts{before, strings.Join(second[:j], ""), after}
}

// words are the words of a text and the space between them.
func words(text string) (all []string) {
	for text != "" {
		n := strings.IndexFunc(text, unicode.IsSpace)
		switch {
		case n < 0:
			n = len(text)
		case n == 0:
			_, n = utf8.DecodeRuneInString(text)
		}
		all, text = append(all, text[:n]), text[n:]
	}
	return all
}
