package configfile

import (
	"fmt"
	"strings"
)

// diffContext is the number of lines that are shown before and after a change.
const diffContext = 3

// Diff is the unified diff of a file, in one hunk; empty if it does not change. For a new file, before is empty.
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
	from, to := max(0, head-diffContext), min(tail, diffContext)
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

// span is a range of lines in the header of a hunk.
func span(from, to int) string {
	if to == from {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}
