package show

import (
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// OneLine is a text of others with each run of white space as one space, and hidden characters by their number. In the text of an
// answer it stands in a code span: see [Line].
func OneLine(s string) string { return visible.Line(s) }

// Line is a text of others within a line of an answer: a code span that it cannot end.
func Line(s string) string { return visible.CodeLine(s) }

// Kept is a text of others that keeps its line breaks and indentation: [Line] of one that has none, or else a block on lines of its own.
func Kept(s string) string {
	s = strings.TrimSpace(s)
	if s == strings.Join(strings.Fields(s), " ") {
		return Line(s)
	}
	return "\n" + Quoted(s)
}

// Lines is [Line] of each text of a list, with "; " between them.
func Lines(list []string) string {
	spans := make([]string, len(list))
	for i, s := range list {
		spans[i] = Line(s)
	}
	return strings.Join(spans, "; ")
}

// Further is a text of the server that quotes others: its lines after the first are indented, so that none looks like a line of the
// answer.
func Further(s string) string { return strings.ReplaceAll(visible.Text(s), "\n", "\n  ") }

// Clip is a text of at most n characters, with an ellipsis where some were cut.
func Clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// Quoted marks text of others as data: a fenced block that it cannot end, as in prompts.
func Quoted(s string) string {
	if s == "" {
		return ""
	}
	return visible.Fenced(s, "")
}
