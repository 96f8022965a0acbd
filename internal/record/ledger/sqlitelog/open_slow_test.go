//go:build slow

package sqlitelog

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAnotherProcessIsRefused runs this test binary again as that process.
func TestAnotherProcessIsRefused(t *testing.T) {
	const variable = "SQLITELOG_TEST_OPEN"
	if path := os.Getenv(variable); path != "" {
		_, err := Open(path, Options{})
		fmt.Println("child says:", err)
		return
	}
	t.Parallel() // it mostly waits
	path := filepath.Join(t.TempDir(), "t.db")
	l := open(t, path, Options{})
	child := exec.Command(os.Args[0], "-test.run=^TestAnotherProcessIsRefused$", "-test.v") //nolint:gosec // ourselves
	child.Env = append(os.Environ(), variable+"="+path)
	out, err := child.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("child says: sqlitelog: "+path+": sqlitelog: database is in use by process ")) {
		t.Errorf("%v: %s", err, out)
	}
	write(t, l, "unharmed", 1)
}
