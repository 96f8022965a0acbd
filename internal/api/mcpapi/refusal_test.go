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

// A hint that is worded anew must not go on to agents as it is because nobody thought of its translation.
func TestEveryHintThatIsTranslatedIsOneThatTheServerGives(t *testing.T) {
	left := map[string]bool{}
	for hint := range callable {
		left[hint] = true
	}
	house := os.DirFS("../..")
	err := fs.WalkDir(house, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".go" || strings.HasPrefix(name, "api/mcpapi/") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		code, err := fs.ReadFile(house, name)
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
		t.Errorf("no refusal hints %q any more", hint)
	}
}
