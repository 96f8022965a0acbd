package configfile

import (
	"fmt"
	"strings"
)

// around is how many lines are shown before and after a change.
const around = 3

// Diff shows as a unified diff how a file changes, in one hunk; empty if it does not. A file that is new has no text
// before.
func Diff(name, before, after string, isNew bool) string {
	if before == after && !isNew {
		return ""
	}
	a, b := split(before), split(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, to := max(0, head-around), min(tail, around)
	var out strings.Builder
	old := name
	if isNew {
		old = "/dev/null"
	}
	fmt.Fprintf(&out, "--- %s\n+++ %s\n@@ -%s +%s @@\n", old, name, span(from, len(a)-tail+to), span(from, len(b)-tail+to))
	write := func(sign string, lines []string) {
		for _, line := range lines {
			out.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
			if !strings.HasSuffix(line, "\n") {
				out.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	write(" ", a[from:head])
	write("-", a[head:len(a)-tail])
	write("+", b[head:len(b)-tail])
	write(" ", a[len(a)-tail:len(a)-tail+to])
	return out.String()
}

func split(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, line)
	}
	return lines
}

// span is a range of lines as a hunk's head has it.
func span(from, to int) string {
	if to == from {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}
