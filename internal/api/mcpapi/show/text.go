package show

import "strings"

// OneLine is a text with each run of white space as one space.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Clip is a text of at most n characters, with an ellipsis where some were cut.
func Clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// Quoted marks text of others as data: each line gets a prefix, so that none of it looks like text of the server.
func Quoted(s string) string {
	if s == "" {
		return ""
	}
	return "| " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n| ")
}
