//go:build slow

package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileThatIsNoKeyOfThePageIsNamed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "page.key"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(t.Context(), Config{DataDir: dir, Addr: "127.0.0.1:0"}); err == nil || s != nil || !strings.Contains(err.Error(), "page.key is not a key") {
		t.Fatalf("%v, %v", s, err)
	}
	if err := os.Remove(filepath.Join(dir, "page.key")); err != nil {
		t.Fatal(err)
	}
	open(t, dir) // the data are free
}
