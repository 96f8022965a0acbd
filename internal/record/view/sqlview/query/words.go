package query

import (
	"slices"
	"strings"
)

// Words are the words of a text that somebody looks for, in lower case.
func Words(text string) []string { return strings.Fields(strings.ToLower(text)) }

// HasWords reports whether each of some words, in lower case, is in one of some texts.
func HasWords(words []string, texts ...string) bool {
	text := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}
