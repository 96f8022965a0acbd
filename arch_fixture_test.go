package trapeze_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

// Each testdata/arch/*.txtar is a small tree with its story. Lines of the story:
//
//	want PREFIX              the checks find this, no more and no less
//	list DIR IMPORTS...      the table lists this package with these imports
//	allow GROUP IMPORTS...   the table lets this group import these
//	nouns NOUN...            the table has these nouns, and no others
//
// The rest of the table is what of ours fits the tree. $LINES(n) among the files stands for n lines of filling, and
// $METHODS(21) for 21 methods of the type T.
func TestEachRuleCanFail(t *testing.T) {
	stories, err := filepath.Glob("testdata/arch/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]bool{}
	for _, story := range stories {
		t.Run(strings.TrimSuffix(filepath.Base(story), ".txtar"), func(t *testing.T) {
			bad, want := readStory(t, story)
			var got []string
			for _, rule := range rules {
				for _, f := range rule.check(bad) {
					refused[rule.name] = true
					got = append(got, f.String())
				}
			}
			compare(t, got, want)
		})
	}
	for _, rule := range rules {
		if !refused[rule.name] {
			t.Errorf("no story in testdata/arch breaks the rule %q", rule.name)
		}
	}
}

func readStory(t *testing.T, file string) (bad *tree, want []string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, f := range archive.Files {
		text := strings.ReplaceAll(string(f.Data), "$LINES(80)", strings.Repeat("\n", 80))
		text = strings.ReplaceAll(text, "$LINES(499)", strings.Repeat("\n", 499))
		text = strings.ReplaceAll(text, "$METHODS(21)", manyMethods(21))
		files[f.Name] = &fstest.MapFile{Data: []byte(text)}
	}
	if bad, err = readTree(files, theTable); err != nil {
		t.Fatal(err)
	}
	bad.table = theTable.cutTo(bad)
	for line := range strings.Lines(string(archive.Comment)) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, imports, _ := strings.Cut(rest, " ")
		switch verb {
		case "want":
			want = append(want, rest)
		case "list":
			bad.table.packages = append(bad.table.packages, pkg{dir: name, imports: imports})
		case "nouns":
			bad.table.nouns = strings.Fields(rest)
		case "allow":
			for i, g := range bad.table.groups {
				if g.dir == name {
					bad.table.groups[i].imports += " " + imports
				}
			}
		}
	}
	return bad, want
}

func manyMethods(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "// M%d is one of many.\nfunc (T) M%d() {}\n", i, i)
	}
	return b.String()
}

// compare matches each finding with one wanted prefix.
func compare(t *testing.T, got, want []string) {
	t.Helper()
	for _, w := range want {
		i := slices.IndexFunc(got, func(g string) bool { return strings.HasPrefix(g, w) })
		if i < 0 {
			t.Errorf("not found: %s", w)
			continue
		}
		got = slices.Delete(got, i, i+1)
	}
	for _, g := range got {
		t.Errorf("found, but not wanted: %s", g)
	}
}
