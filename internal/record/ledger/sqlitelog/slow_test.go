//go:build slow && linux && !race

package sqlitelog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

func mountTmpfs(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullDiskLosesNothing fills a small disk, once to the watermark and once to the last byte.
func TestFullDiskLosesNothing(t *testing.T) {
	for name, minFree := range map[string]int64{"watermark": 6 << 20, "last byte": -1} {
		t.Run(name, func(t *testing.T) {
			dir := mountTmpfs(t, "16m")
			path := filepath.Join(dir, "t.db")
			ballast := filepath.Join(dir, "ballast")
			if err := os.WriteFile(ballast, make([]byte, 4<<20), 0o600); err != nil {
				t.Fatal(err)
			}
			opts := Options{Projector: &counter{}, MinFree: minFree}
			l := open(t, path, opts)
			fillUntilFull(t, l)
			before, _ := l.Last(t.Context())
			if l.Err() == nil {
				t.Error("Err is nil on a full disk")
			}
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
			if broken := l.health.broken(); broken { // the index of the write-ahead log could not grow: a restart repairs it
				t.Logf("restarting after: %v", l.Err())
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				l = open(t, path, opts)
			}
			write(t, l, "resumed", 5)
			after, _ := l.Last(t.Context())
			if after < before+5 {
				t.Errorf("%d entries before, %d after", before, after)
			}
			wantViews(t, l, "after space was made", views(after), false)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			l = open(t, path, opts)
			wantViews(t, l, "after a restart", views(after), false)
		})
	}
}

func views(p ledger.Position) string { return fmt.Sprintf("%d streams, cursor %d", p, p) }

func TestReadOnlyDirectoryIsRefusedClearly(t *testing.T) {
	dir := mountTmpfs(t, "1m")
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("cannot remount: %v", err)
	}
	_, err := Open(filepath.Join(dir, "t.db"), Options{})
	if err == nil || !strings.Contains(err.Error(), "must be writable") {
		t.Errorf("got %v", err)
	}
}
