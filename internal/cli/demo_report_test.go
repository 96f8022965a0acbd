package cli_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/cli/demo/report"
)

func module(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

var bakery = map[string]string{
	"go.mod":               "module example.com/bakery\n\ngo 1.26\n",
	"bakery.go":            "// Package bakery sells bread. It opens at six.\npackage bakery\n\nimport _ \"example.com/bakery/oven\"\n\nfunc Sell() {}\n",
	"bakery_test.go":       "package bakery\n",
	"oven/oven.go":         "package oven\n\n// Bake bakes.\nfunc (o *Oven[T]) Bake() {\n\tprintln(1)\n}\n\n// Oven is hot.\ntype Oven[T any] struct{}\n\nvar Heat, cold = 1, 2\n",
	"oven/broken.go":       "package oven\nimport (\n",
	"testdata/x.go":        "package x\n",
	"vendor/v/v.go":        "package v\n",
	"nested/go.mod":        "module example.com/nested\n",
	"nested/nested.go":     "package nested\n",
	"_old/old.go":          "package old\n",
	"oven/only_test.go":    "package oven\n",
	"tested/only_test.go":  "package tested\n",
	"doc/notes.md":         "# nothing\n",
	"internal/deep/x/x.go": "package x\n\nimport (\n\t\"fmt\"\n\t\"example.com/bakery\"\n)\n\nfunc show() { fmt.Println(bakery.Sell) }\n",
}

func look(t *testing.T, root string) report.Survey {
	t.Helper()
	s, err := report.Look(t.Context(), root, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func analysed(t *testing.T) report.Analysis {
	t.Helper()
	a, err := report.Analyse(t.Context(), look(t, module(t, bakery)), func(int, string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestASurveyListsWhatGoWouldBuild(t *testing.T) {
	s := look(t, module(t, bakery))
	var dirs []string
	for _, p := range s.Packages {
		dirs = append(dirs, p.Dir)
	}
	if want := []string{".", "internal/deep/x", "oven", "tested"}; !slices.Equal(dirs, want) {
		t.Fatalf("listed %v, want %v", dirs, want)
	}
	if got := s.Packages[0].Imports; !slices.Equal(got, []string{"oven"}) {
		t.Errorf("the root imports %v", got)
	}
	if got := s.Packages[1].Imports; !slices.Equal(got, []string{"."}) {
		t.Errorf("x imports %v", got)
	}
	if got := s.Packages[2].Broken; !slices.Equal(got, []string{"broken.go"}) {
		t.Errorf("broken are %v", got)
	}
}

func TestADirectoryWithoutModuleIsRefused(t *testing.T) {
	if _, err := report.Look(t.Context(), t.TempDir(), func(string) {}); !errors.Is(err, report.ErrNoModule) {
		t.Errorf("got %v", err)
	}
	root := module(t, map[string]string{"go.mod": "module example.com/empty\n"})
	if _, err := report.Look(t.Context(), root, func(string) {}); err == nil {
		t.Error("a module without Go files was surveyed")
	}
}

func TestTheAnalysisCounts(t *testing.T) {
	a := analysed(t)
	oven := a.Packages[2]
	if oven.Longest != "Oven.Bake" || oven.LongestLines != 3 || oven.Functions != 1 || oven.Exported != 3 ||
		!slices.Equal(oven.Undocumented, []string{"Heat"}) || !slices.Equal(oven.ImportedBy, []string{"."}) {
		t.Errorf("the oven is %+v", oven)
	}
	if got := a.Packages[0].Synopsis; got != "Package bakery sells bread." {
		t.Errorf("the root says %q", got)
	}
}

func TestAnAnalysisStopsWhenItsReaderIsGone(t *testing.T) {
	s := look(t, module(t, bakery))
	gone := errors.New("gone")
	if _, err := report.Analyse(t.Context(), s, func(int, string) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := report.Analyse(ctx, s, func(int, string) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

var rules = report.Rules{Closing: "*Counted, not guessed.*", NoPaths: true}

func TestAReportAsWrittenHasNoFindings(t *testing.T) {
	a := analysed(t)
	for _, r := range []report.Rules{{}, rules} {
		if f := report.Review(report.Write(a, r), a, r); len(f) > 0 {
			t.Errorf("findings: %q", f)
		}
	}
}

func TestRulesThatDidNotReachTheWriterAreFound(t *testing.T) {
	a := analysed(t)
	f := report.Review(report.Write(a, report.Rules{}), a, rules)
	if want := []string{`the last line is not "*Counted, not guessed.*"`, "a directory of this machine is named: " + a.Root}; !slices.Equal(f, want) {
		t.Errorf("findings: %q, want %q", f, want)
	}
}

func TestADirectoryIsNamedOnlyByItsOwnPath(t *testing.T) {
	for text, want := range map[string]bool{
		"The source is in `/app`.": true, "/app": true, "see /app/main.go": true, "in /app.": true,
		"[internal/app](#internalapp)": false, "/apple": false, "/srv/app": false, "./app": false, "": false, "/app-2": false,
	} {
		if report.Names(text, "/app") != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	if report.Names("anything", "") {
		t.Error("no directory is named")
	}
}

func TestASummaryIsShortAndKeepsToTheRules(t *testing.T) {
	a := analysed(t)
	s := report.Summary(a, rules, "elsewhere", 1000)
	for _, want := range []string{"4 packages, ", "Most imported: `bakery (root)`, by 1 of 4 packages", "Longest function: `Oven.Bake` in oven, 3 lines", "elsewhere"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not in it:\n%s", want, s)
		}
	}
	if !strings.HasSuffix(s, "\n"+rules.Closing+"\n") || strings.Contains(s, a.Root) || len(s) > len(report.Write(a, rules))/2 {
		t.Errorf("it is\n%s", s)
	}
	for limit := len(report.Summary(a, rules, "elsewhere", 0)); limit < len(s); limit++ {
		short := report.Summary(a, rules, "elsewhere", limit)
		if len(short) > limit || !strings.Contains(short, "elsewhere") || !strings.HasSuffix(short, rules.Closing+"\n") {
			t.Fatalf("in %d bytes it is\n%s", limit, short)
		}
	}
}

func TestACountIsHeldAgainstTheAnalysis(t *testing.T) {
	s, a := look(t, module(t, bakery)), analysed(t)
	c, err := report.ParseCount(s.Count().String())
	if err != nil || c != s.Count() {
		t.Fatalf("%v, %v", c, err)
	}
	if d := c.Differs(a); d != "" {
		t.Error(d)
	}
	c.Files++
	if d := c.Differs(a); d != "the survey listed 4 packages with 8 files, tests included; the analysis has 4 packages with 7 files, tests included" {
		t.Errorf("%q", d)
	}
	if _, err := report.ParseCount("many"); err == nil {
		t.Error("no count was taken for one")
	}
}

func TestTheReviewFindsWhatIsWrong(t *testing.T) {
	a := analysed(t)
	for name, c := range map[string]struct{ old, new, want string }{
		"a package without section":   {"\n### oven\n", "\n", "package oven has no section"},
		"a link that has no target":   {"](#oven)", "](#stove)", "the link #stove has no target"},
		"sums that do not add up":     {"| **all** | 4 ", "| **all** | 5 ", "the table's rows add up"},
		"a row that was not counted":  {"| [tested](#tested) | 0 | 1 ", "| [tested](#tested) | 0 | 2 ", "the table has"},
		"a package that has no row":   {"| [tested](#tested) |", "| tested |", "package tested is not in the table"},
		"two headings of one anchor":  {"## At a glance", "## The packages", "two headings have the anchor #the-packages"},
		"a report that says nothing":  {report.Write(a, rules), "", "package . has no section"},
		"everything under a new name": {"### internal/deep/x", "### x", "the link #internaldeepx has no target"},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := strings.Replace(report.Write(a, rules), c.old, c.new, 1)
			if spoilt == report.Write(a, rules) {
				t.Fatal("nothing was spoilt")
			}
			if f := report.Review(spoilt, a, rules); !strings.Contains(strings.Join(f, "\n"), c.want) {
				t.Errorf("findings %q lack %q", f, c.want)
			}
		})
	}
}
