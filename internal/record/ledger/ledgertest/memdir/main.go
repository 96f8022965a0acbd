package memdir

import (
	"os"
	"testing"
)

// Main runs the tests of a program with the directories of [testing.T.TempDir] in memory, if the machine has 6 GiB to spare for them and TMPDIR is
// not set. It is called by TestMain and does not return.
func Main(m *testing.M) {
	Use()
	os.Exit(m.Run())
}

// Use is what [Main] does before the tests, for a TestMain that does more.
func Use() {
	if dir := memory(); dir != "" && os.Getenv("TMPDIR") == "" {
		_ = os.Setenv("TMPDIR", dir) // a valid name
	}
}
