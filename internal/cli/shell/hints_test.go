package shell

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// The keys of hints must be texts of the server: a hint that was reworded there would not be translated.
func TestTranslatedHintsExistInTheServer(t *testing.T) {
	missing := map[string]bool{}
	for hint := range hints {
		missing[hint] = true
	}
	sources := os.DirFS("../..")
	err := fs.WalkDir(sources, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".go" || strings.HasPrefix(name, "cli/") || strings.HasPrefix(name, "api/mcpapi/") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		code, err := fs.ReadFile(sources, name)
		for hint := range missing {
			if strings.Contains(string(code), hint) {
				delete(missing, hint)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, hint := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("no refusal has the hint %q any more", hint)
	}
}
