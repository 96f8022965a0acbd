package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

var figure = regexp.MustCompile(`(^|[ =~o+(])[0-9]+(\.[0-9]+)?`)

// inForm is a line without what differs from run to run: its figures, except those in names, and the width of columns.
func inForm(line string) string {
	return strings.Join(strings.Fields(figure.ReplaceAllString(line, "${1}0")), " ")
}

// readme checks that a file has every line that README.md shows as output, in form. The commands of the README are run by the
// test of cmd/trapeze.
func readme(ts *testscript.TestScript, _ bool, args []string) {
	page, err := os.ReadFile(filepath.Join(sources, "README.md"))
	ts.Check(err)
	has := map[string]bool{}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		has[inForm(line)] = true
	}
	shown, count := false, 0
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			shown = line == "```console"
		case shown && line != "…" && !strings.HasPrefix(line, "$ "):
			if count++; !has[inForm(line)] {
				ts.Fatalf("README.md shows %q, and no line of the output is like it", line)
			}
		}
	}
	if count == 0 {
		ts.Fatalf("README.md shows no output")
	}
}
