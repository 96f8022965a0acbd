package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Maximum lengths of lists in the report.
const (
	maxGaps    = 10 // undocumented names shown per package
	maxLongest = 10 // functions in the list of the longest
)

// Totals are the sums over all packages.
type Totals struct {
	Packages, Files, Tests, Lines, Functions, Exported, Undocumented int
}

// Totals adds up the packages.
func (a Analysis) Totals() (t Totals) {
	for _, m := range a.Packages {
		t.Packages++
		t.Files += m.Files
		t.Tests += m.Tests
		t.Lines += m.Lines
		t.Functions += m.Functions
		t.Exported += m.Exported
		t.Undocumented += len(m.Undocumented)
	}
	return t
}

// Rules are the rules of a report, for writing and for checking it. They are part of the task.
type Rules struct {
	Closing string // the last line, verbatim; empty: none
	NoPaths bool   // do not name directories of the machine
}

// Write makes the report, in Markdown.
func Write(a Analysis, r Rules) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What is in %s\n\n", a.Module)
	if !r.NoPaths {
		fmt.Fprintf(&b, "The source is in `%s`.\n\n", a.Root)
	}
	b.WriteString(a.glance() + " Tests are counted as files, and excluded from everything else.\n")
	if a.Omitted > 0 {
		fmt.Fprintf(&b, "\n%d more packages are omitted from this report.\n", a.Omitted)
	}
	writeTable(&b, a, a.Totals())
	writeLongest(&b, a)
	b.WriteString("\n## The packages\n")
	for _, m := range a.Packages {
		writePackage(&b, a, m)
	}
	return b.String() + r.closing()
}

// glance is the analysis in two sentences.
func (a Analysis) glance() string {
	t := a.Totals()
	s := fmt.Sprintf("%d packages, %d files, %d lines, %d functions. Of %d exported names %d have no comment",
		t.Packages, t.Files, t.Lines, t.Functions, t.Exported, t.Undocumented)
	if t.Exported > 0 {
		s += fmt.Sprintf(" (%d %% are documented)", (t.Exported-t.Undocumented)*100/t.Exported)
	}
	return s + "."
}

// closing is the last line of the rules, with line breaks.
func (r Rules) closing() string {
	if r.Closing == "" {
		return ""
	}
	return "\n" + r.Closing + "\n"
}

// Summary is a summary of the report, in Markdown and, if possible, in at most limit bytes. where tells how to find the report.
func Summary(a Analysis, r Rules, where string, limit int) string {
	head := fmt.Sprintf("# %s in short\n\n%s\n\n", a.Module, a.glance())
	tail := fmt.Sprintf("- The report: %s\n", where) + r.closing()
	more := func(format string, args ...any) {
		if line := fmt.Sprintf(format, args...); len(head)+len(line)+len(tail) <= limit {
			head += line
		}
	}
	if hub, n := a.Hub(); n > 0 {
		more("- Most imported: `%s`, by %d of %d packages\n", title(a, hub), n, len(a.Packages))
	}
	if m := a.Longest(); m.LongestLines > 0 {
		more("- Longest function: `%s` in %s, %d lines\n", m.Longest, title(a, m.Dir), m.LongestLines)
	}
	return head + tail
}

// Hub is the directory of the package with the most importers, and their number; the first of several.
func (a Analysis) Hub() (dir string, importers int) {
	for _, m := range a.Packages {
		if len(m.ImportedBy) > importers {
			dir, importers = m.Dir, len(m.ImportedBy)
		}
	}
	return dir, importers
}

// Longest is the package with the longest function; the first of several.
func (a Analysis) Longest() (longest Metrics) {
	for _, m := range a.Packages {
		if m.LongestLines > longest.LongestLines {
			longest = m
		}
	}
	return longest
}

func writeTable(b *strings.Builder, a Analysis, t Totals) {
	b.WriteString("\n## At a glance\n\n")
	b.WriteString("| package | files | tests | lines | functions | exported | undocumented |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, m := range a.Packages {
		fmt.Fprintf(b, "| [%s](#%s) | %d | %d | %d | %d | %d | %d |\n", title(a, m.Dir), anchor(title(a, m.Dir)),
			m.Files, m.Tests, m.Lines, m.Functions, m.Exported, len(m.Undocumented))
	}
	fmt.Fprintf(b, "| **all** | %d | %d | %d | %d | %d | %d |\n", t.Files, t.Tests, t.Lines, t.Functions, t.Exported, t.Undocumented)
}

func writeLongest(b *strings.Builder, a Analysis) {
	list := slices.Clone(a.Packages)
	slices.SortStableFunc(list, func(x, y Metrics) int { return cmp.Compare(y.LongestLines, x.LongestLines) })
	b.WriteString("\n## The longest function of each package\n\n")
	for i, m := range list {
		if i == maxLongest || m.LongestLines == 0 {
			break
		}
		fmt.Fprintf(b, "- `%s` in [%s](#%s): %d lines\n", m.Longest, title(a, m.Dir), anchor(title(a, m.Dir)), m.LongestLines)
	}
}

func writePackage(b *strings.Builder, a Analysis, m Metrics) {
	fmt.Fprintf(b, "\n### %s\n\n", title(a, m.Dir))
	if m.Synopsis != "" {
		fmt.Fprintf(b, "%s\n\n", m.Synopsis)
	} else {
		b.WriteString("It has no package comment.\n\n")
	}
	writeLinks(b, a, "Imports", m.Imports)
	writeLinks(b, a, "Imported by", m.ImportedBy)
	if len(m.Broken) > 0 {
		fmt.Fprintf(b, "- Does not parse: %s\n", codes(m.Broken))
	}
	if n := len(m.Undocumented); n > maxGaps {
		fmt.Fprintf(b, "- Without a comment: %s, and %d more\n", codes(m.Undocumented[:maxGaps]), n-maxGaps)
	} else if n > 0 {
		fmt.Fprintf(b, "- Without a comment: %s\n", codes(m.Undocumented))
	} else if m.Exported > 0 {
		fmt.Fprintf(b, "- All %d exported names have a comment\n", m.Exported)
	}
}

func writeLinks(b *strings.Builder, a Analysis, what string, dirs []string) {
	if len(dirs) == 0 {
		return
	}
	links := make([]string, 0, len(dirs))
	for _, d := range dirs {
		known := slices.ContainsFunc(a.Packages, func(m Metrics) bool { return m.Dir == d })
		if known {
			links = append(links, fmt.Sprintf("[%s](#%s)", title(a, d), anchor(title(a, d))))
		} else {
			links = append(links, "`"+d+"`")
		}
	}
	fmt.Fprintf(b, "- %s: %s\n", what, strings.Join(links, ", "))
}

// title is the name of a package in the report: its directory, or the last element of the module path for the root.
func title(a Analysis, dir string) string {
	if dir != "." {
		return dir
	}
	return a.Module[strings.LastIndex(a.Module, "/")+1:] + " (root)"
}

// anchor is the id that Markdown renderers give to a heading.
func anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func codes(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "`" + n + "`"
	}
	return strings.Join(quoted, ", ")
}
