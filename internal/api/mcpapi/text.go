package mcpapi

import (
	"strings"
)

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// quoted marks text of others as data: each line is set off, so that nothing in it can pass for what the server says.
func quoted(s string) string {
	if s == "" {
		return ""
	}
	return "| " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n| ")
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
