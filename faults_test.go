package trapeze_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page about clusters says which test tries which fault: a test that is renamed or deleted is renamed or replaced there.
func TestTheFaultsThatThePageOfClustersNamesAreTried(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("docs", "cluster.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(page), -1)
	if len(names) < 15 {
		t.Errorf("it names %d tests", len(names))
	}
	var tests strings.Builder
	for _, dir := range []string{"cmd", "internal/scenario", "internal/record"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_outside_test.go") {
				return err
			}
			text, err := os.ReadFile(path) //nolint:gosec // of this repository
			tests.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		if !strings.Contains(tests.String(), "func "+name[1]+"(") {
			t.Errorf("there is no test %s", name[1])
		}
	}
}
