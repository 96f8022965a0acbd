package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	reHeading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	reAnchor  = regexp.MustCompile(`\]\(#([^)]*)\)`)
	reRow     = regexp.MustCompile(`(?m)^\| (?:\[([^\]]+)\]\([^)]*\)|\*\*all\*\*) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$`)
)

// Review compares a report with its analysis, and returns what is wrong with it: packages without a heading, dangling links, duplicate
// anchors, wrong sums, and violated rules.
func Review(report string, a Analysis, r Rules) []string {
	findings := []string{}
	find := func(format string, args ...any) { findings = append(findings, fmt.Sprintf(format, args...)) }
	anchors := map[string]bool{}
	for _, h := range reHeading.FindAllStringSubmatch(report, -1) {
		id := anchor(h[1])
		if anchors[id] {
			find("two headings have the anchor #%s", id)
		}
		anchors[id] = true
	}
	for _, m := range a.Packages {
		if !strings.Contains(report, "\n### "+title(a, m.Dir)+"\n") {
			find("package %s has no section", m.Dir)
		}
	}
	for _, l := range reAnchor.FindAllStringSubmatch(report, -1) {
		if !anchors[l[1]] {
			find("the link #%s has no target", l[1])
		}
	}
	if r.Closing != "" && !strings.HasSuffix(report, r.closing()) {
		find("the last line is not %q", r.Closing)
	}
	if r.NoPaths && Names(report, a.Root) {
		find("a directory of this machine is named: %s", a.Root)
	}
	return append(findings, checkSums(report, a)...)
}

// Names reports whether a text names a directory, and not only a longer path that contains its name.
func Names(text, dir string) bool {
	if dir == "" {
		return false
	}
	return regexp.MustCompile(`(^|[^\w.\-/\\])` + regexp.QuoteMeta(dir) + `($|[^\w\-])`).MatchString(text)
}

// checkSums checks the sums of the table, and compares its rows with the analysis.
func checkSums(report string, a Analysis) (findings []string) {
	var sums, all [6]int
	rows := map[string][6]int{}
	for _, r := range reRow.FindAllStringSubmatch(report, -1) {
		var figures [6]int
		for i := range figures {
			figures[i], _ = strconv.Atoi(r[i+2]) // only digits match; an overflow differs from any count
			if r[1] != "" {
				sums[i] += figures[i]
			}
		}
		if r[1] == "" {
			all = figures
			continue
		}
		rows[r[1]] = figures
	}
	if sums != all {
		findings = append(findings, fmt.Sprintf("the table's rows add up to %v, not to its last line %v", sums, all))
	}
	for _, m := range a.Packages {
		want := [6]int{m.Files, m.Tests, m.Lines, m.Functions, m.Exported, len(m.Undocumented)}
		if got, ok := rows[title(a, m.Dir)]; !ok {
			findings = append(findings, fmt.Sprintf("package %s is not in the table", m.Dir))
		} else if got != want {
			findings = append(findings, fmt.Sprintf("the table has %v for %s; the analysis has %v", got, m.Dir, want))
		}
	}
	return findings
}
