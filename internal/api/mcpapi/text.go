package mcpapi

import "strings"

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// quoted marks text of others as data: each line gets a prefix, so that none of it looks like text of the server.
func quoted(s string) string {
	if s == "" {
		return ""
	}
	return "| " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n| ")
}
