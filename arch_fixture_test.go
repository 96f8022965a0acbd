package trapeze_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

// Each testdata/arch/*.txtar is a small tree with its story. Lines `want PREFIX` in the story list what the checks
// must find there, no more and no less; $LINES(n) among the files stands for n lines of filling.
func TestEachRuleCanFail(t *testing.T) {
	stories, err := filepath.Glob("testdata/arch/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]bool{}
	for _, story := range stories {
		t.Run(strings.TrimSuffix(filepath.Base(story), ".txtar"), func(t *testing.T) {
			fsys, want := readStory(t, story)
			bad, err := readTree(fsys)
			if err != nil {
				t.Fatal(err)
			}
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

func readStory(t *testing.T, file string) (fsys fs.FS, want []string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(archive.Comment)) {
		if text, ok := strings.CutPrefix(line, "want "); ok {
			want = append(want, strings.TrimSpace(text))
		}
	}
	files := fstest.MapFS{}
	for _, f := range archive.Files {
		text := strings.ReplaceAll(string(f.Data), "$LINES(80)", strings.Repeat("\n", 80))
		text = strings.ReplaceAll(text, "$LINES(499)", strings.Repeat("\n", 499))
		files[f.Name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files, want
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
