package sqlitelog

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
)

// TestErrorOfTheDiskStopsWritingUntilRestart makes writes fail by a limit on the size of files.
func TestErrorOfTheDiskStopsWritingUntilRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	l := open(t, path, Options{Projector: &counter{}})
	write(t, l, "before", 3)
	restore := limitFiles(t, path+"-wal")
	_, err := l.Append(t.Context(), ledgertest.KiB("w/task/hit", 1), 0)
	restore()
	if !errors.Is(err, ledger.ErrUnknown) {
		t.Errorf("append under way: got %v, want ErrUnknown", err)
	}
	for range 2 { // even though the disk is well again
		if _, err := l.Append(t.Context(), ledgertest.KiB("w/task/later", 1), 0); !errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("append after it: got %v, want ErrUnavailable", err)
		}
	}
	if err := l.Err(); !errors.Is(err, ledger.ErrUnavailable) || !strings.Contains(err.Error(), "restart") {
		t.Errorf("Err: %v", err)
	}
	if got, err := l.Read(t.Context(), 0, 10); err != nil || len(got) != 3 {
		t.Errorf("reading: %d entries, %v", len(got), err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, path, Options{Projector: &counter{}})
	write(t, l, "after", 1)
	wantViews(t, l, "after a restart", "4 streams, cursor 4", false)
}

// limitFiles lets no file of this process grow beyond the present size of one, until restore is called.
func limitFiles(t *testing.T, path string) (restore func()) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	now := old
	now.Cur = uint64(info.Size()) //nolint:gosec // positive
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &now); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	}
}
