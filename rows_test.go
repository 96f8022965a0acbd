package trapeze_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

//go:generate go test -count=1 -run ^TestRowsPageShowsTheTable$ . -update

// An access is a way to use the server, the directories whose tests use it, and what each requirement has for it.
type access struct {
	name string
	dirs string
	uses string // a regular expression of which each file of its tests has a match: what a test of another layer lacks
	cell func(requirement) string
}

var accesses = []access{
	{"HTTP", "internal/api/httpapi internal/api/otelapi internal/server internal/scenario", `client\.|http`, func(r requirement) string { return r.http }},
	{"MCP", "internal/api/mcpapi trapezetest", `mcp|MCP`, func(r requirement) string { return r.mcp }},
	{"command line", "internal/cli", `trapeze|shell`, func(r requirement) string { return r.cli }},
	{"Go client", "client trapezetest internal/api/httpapi internal/scenario", `client\.`, func(r requirement) string { return r.client }},
}

// lengths are the numbers of requirements by their letters: ids are counted from 1.
var lengths = map[string]int{"L": 20, "E": 16, "Y": 5, "R": 10, "A": 8, "O": 8, "D": 3, "N": 3, "S": 14}

func TestEveryRequirementIsInTheTableOnce(t *testing.T) {
	times := map[string]int{}
	for _, c := range chapters {
		for _, id := range strings.Fields(c.later) {
			times[id]++
		}
		for _, r := range c.rows {
			times[r.id]++
		}
	}
	all := 0
	for letter, n := range lengths {
		for i := range n {
			if id := fmt.Sprintf("%s%d", letter, i+1); times[id] != 1 {
				t.Errorf("%s is in the table %d times", id, times[id])
			}
			all++
		}
	}
	if len(times) != all {
		t.Errorf("the table has %d ids, there are %d", len(times), all)
	}
}

// What the table names is there: a test that is renamed or deleted is renamed or replaced here.
func TestWhatProvesARequirementExists(t *testing.T) {
	for _, a := range accesses {
		there := provers(t, a)
		for _, c := range chapters {
			for _, r := range c.rows {
				cell := a.cell(r)
				if strings.HasPrefix(cell, "- ") {
					continue
				}
				if cell == "" && (a.name == "MCP" || a.name == "command line") {
					t.Errorf("%s: neither a test nor a reason why there is none for %s", r.id, a.name)
				}
				if cell == "" && strings.HasPrefix(r.mcp, "- ") && strings.HasPrefix(r.cli, "- ") {
					t.Errorf("%s: nothing goes through %s", r.id, a.name)
				}
				for _, name := range strings.Fields(cell) {
					if !slices.Contains(there, name) {
						t.Errorf("%s: %s has no %s in %s", r.id, a.name, name, a.dirs)
					}
				}
			}
		}
	}
}

// The most requirements that one test, and one script of many steps, may be named for at an interface: a proof of everything proves nothing.
const (
	maxProves       = 4
	maxScriptProves = 9
)

func TestNoTestProvesTooManyRequirements(t *testing.T) {
	for _, a := range accesses {
		times := map[string]int{}
		for _, c := range chapters {
			for _, r := range c.rows {
				if cell := a.cell(r); !strings.HasPrefix(cell, "- ") {
					for _, name := range strings.Fields(cell) {
						times[name]++
					}
				}
			}
		}
		for name, n := range times {
			most := maxProves
			if strings.Contains(name, ":") {
				most = maxScriptProves
			}
			if n > most {
				t.Errorf("%s: %s is named for %d requirements, at most %d: name tests that prove one", a.name, name, n, most)
			}
		}
	}
}

var testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Example)\w*)\(`)

// provers lists the tests, stories and conversations in the directories of an access.
func provers(t *testing.T, a access) (names []string) {
	t.Helper()
	for _, dir := range strings.Fields(a.dirs) {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			base, isScript := strings.CutSuffix(e.Name(), ".txtar")
			switch {
			case isScript && dir == "internal/cli":
				names = append(names, "story:"+base)
			case isScript:
				names = append(names, "talk:"+base)
			case strings.HasSuffix(path, "_test.go"):
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				if !usesInterface(t, path, regexp.MustCompile(a.uses)) {
					return nil
				}
				for _, m := range testFunc.FindAllStringSubmatch(string(text), -1) {
					names = append(names, m[1])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// usesInterface reports whether a file of tests, or one of its family (crash_test.go and crash_actor_test.go), uses an interface.
func usesInterface(t *testing.T, path string, uses *regexp.Regexp) bool {
	t.Helper()
	family, _, _ := strings.Cut(filepath.Base(path), "_")
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), family+"_*test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return uses.Match(text)
	})
}

func TestRowsPageShowsTheTable(t *testing.T) {
	const page = "docs/rows.md"
	want := rowsAsMarkdown()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s does not show the table in rows_table_test.go: run go generate . and commit the result", page)
	}
}

func rowsAsMarkdown() string {
	var b strings.Builder
	b.WriteString(`# Requirements and the tests that prove them

<!-- Generated by go generate . from rows_table_test.go: do not edit. -->

Each requirement by its id, and for each interface the tests that prove it there. *Story* is a script of the command line
(` + "`internal/cli/testdata/script`" + `), *conversation* a recorded one with the MCP server (` + "`internal/api/mcpapi/testdata`" + `). The command line and the
MCP server are written with the Go client, which speaks HTTP: where a cell of HTTP or of
the client says *as the command line and MCP*, their tests in the row go through it. A cell in parentheses is deliberately empty, and says why. A test checks that everything that is named here exists.

`)
	for _, c := range chapters {
		fmt.Fprintf(&b, "## %s\n\n| id | | HTTP | MCP | command line | Go client |\n|---|---|---|---|---|---|\n", c.title)
		for _, r := range c.rows {
			fmt.Fprintf(&b, "| %s | %s |", r.id, r.what)
			for _, a := range accesses {
				b.WriteString(" " + cellAsMarkdown(a.cell(r)) + " |")
			}
			b.WriteString("\n")
		}
		if c.later != "" {
			fmt.Fprintf(&b, "\nNot built yet, or not as a whole: %s.\n", strings.Join(strings.Fields(c.later), ", "))
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func cellAsMarkdown(cell string) string {
	if why, empty := strings.CutPrefix(cell, "- "); empty {
		return "(" + why + ")"
	}
	if cell == "" {
		return "as the command line and MCP"
	}
	var list []string
	for _, name := range strings.Fields(cell) {
		kind, rest, ok := strings.Cut(name, ":")
		switch {
		case !ok:
			list = append(list, "`"+name+"`")
		case kind == "story":
			list = append(list, "story "+rest)
		default:
			list = append(list, "conversation "+rest)
		}
	}
	return strings.Join(list, ", ")
}
