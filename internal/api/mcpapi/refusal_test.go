package mcpapi

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// A hint that was reworded on the server must not reach agents untranslated.
func TestEveryHintThatIsTranslatedIsOneThatTheServerGives(t *testing.T) {
	left := map[string]bool{}
	for hint := range callable {
		left[hint] = true
	}
	tree := os.DirFS("../..")
	err := fs.WalkDir(tree, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".go" || strings.HasPrefix(name, "api/mcpapi/") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		code, err := fs.ReadFile(tree, name)
		for hint := range left {
			if strings.Contains(string(code), hint) {
				delete(left, hint)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, hint := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("no refusal has the hint %q", hint)
	}
}
