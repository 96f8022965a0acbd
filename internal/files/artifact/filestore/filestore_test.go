package filestore_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/files/artifact/artifacttest"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
)

func TestFilestoreKeepsTheContract(t *testing.T) {
	artifacttest.Run(t, func(t *testing.T, clock *artifacttest.Clock) artifact.Store {
		return open(t, filepath.Join(t.TempDir(), "artifacts"), filestore.Options{
			MaxSize: artifacttest.MaxSize, Quota: artifacttest.Quota, Now: clock.Now,
		})
	})
}

func open(t *testing.T, dir string, o filestore.Options) *filestore.Store {
	t.Helper()
	s, err := filestore.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *filestore.Store, content string) artifact.Key {
	t.Helper()
	info, err := s.Put(t.Context(), "default", strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return artifact.Key{Workspace: "default", Digest: info.Digest}
}

func read(t *testing.T, s *filestore.Store, k artifact.Key) (string, error) {
	t.Helper()
	r, _, err := s.Get(t.Context(), k)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	return string(b), errors.Join(err, r.Close())
}

func place(dir string, k artifact.Key) string {
	h := k.Digest.Hex()
	return filepath.Join(dir, "data", k.Workspace, h[:2], h)
}

func TestADamagedFileIsNoticedWhileReadingAndRepairedByPuttingAgain(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, filestore.Options{})
	defer s.Close()
	k := put(t, s, "the content")
	for _, damage := range []string{"the c0ntent", "the conten", "the content and more", ""} {
		if err := os.WriteFile(place(dir, k), []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(t, s, k); !errors.Is(err, artifact.ErrCorrupt) || !strings.Contains(err.Error(), string(k.Digest)) {
			t.Errorf("%q reads with %v", damage, err)
		}
		put(t, s, "the content")
		if got, err := read(t, s, k); err != nil || got != "the content" {
			t.Errorf("after putting it again: %q, %v", got, err)
		}
	}
}

func TestACrashLeavesNothingHalfDone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, filestore.Options{})
	k := put(t, s, "whole")
	s.Close()
	if err := os.WriteFile(filepath.Join(dir, "new", "half"), []byte("ha"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, filestore.Options{})
	defer s.Close()
	if left, err := os.ReadDir(filepath.Join(dir, "new")); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	if got, err := read(t, s, k); err != nil || got != "whole" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAStoreThatIsOpenedAgainKnowsWhatItKeeps(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, filestore.Options{})
	k := put(t, s, "abc")
	s.Close()
	s = open(t, dir, filestore.Options{Quota: artifact.Quota{Bytes: 5}})
	defer s.Close()
	if _, err := s.Put(t.Context(), k.Workspace, strings.NewReader("def")); refusal.CodeOf(err) != refusal.Limit {
		t.Errorf("beyond the quota: %v", err)
	}
	put(t, s, "de")
}

func TestADiskWithLittleRoomTakesNothingMore(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, filestore.Options{MinFree: 1 << 62})
	defer s.Close()
	_, err := s.Put(t.Context(), "default", strings.NewReader("a"))
	if r, ok := refusal.As(err); !ok || r.Code != refusal.Unavailable || !strings.Contains(r.Message, "full") || !strings.Contains(r.Hint, "free some space") {
		t.Errorf("put: %v", err)
	}
	none(t, dir)
}

func TestFailedPutsLeaveNoFiles(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, filestore.Options{MaxSize: 3})
	defer s.Close()
	if _, err := s.Put(t.Context(), "default", strings.NewReader("four")); err == nil {
		t.Fatal("taken")
	}
	none(t, dir)
}

// none checks that there are no files.
func none(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("left over: %s", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, filestore.Options{})
	defer s.Close()
	put(t, s, "secret")
	files := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", name, info.Mode())
		}
		if !d.IsDir() {
			files++
		}
		return nil
	})
	if err != nil || files != 1 {
		t.Errorf("%d files, %v", files, err)
	}
}

func TestALinkOutOfTheStoreIsNotFollowed(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	s := open(t, dir, filestore.Options{})
	defer s.Close()
	k := put(t, s, "content")
	if err := errors.Join(os.WriteFile(outside, []byte("content"), 0o600), os.Remove(place(dir, k)), os.Symlink(outside, place(dir, k))); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if got, err := read(t, s, k); err == nil {
		t.Errorf("read %q through a link", got)
	}
}

func TestASweepLeavesFilesOfOthersAlone(t *testing.T) {
	dir := t.TempDir()
	clock := artifacttest.NewClock()
	s := open(t, dir, filestore.Options{Now: clock.Now})
	defer s.Close()
	k := put(t, s, "content")
	strange := filepath.Join(filepath.Dir(place(dir, k)), "README")
	if err := os.WriteFile(strange, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	clock.Advance(1)
	if swept, err := s.Sweep(t.Context(), clock.Now(), func(artifact.Key) (bool, error) { return false, nil }); err != nil || swept.Deleted != 1 {
		t.Errorf("%+v, %v", swept, err)
	}
	if _, err := os.Stat(strange); err != nil {
		t.Error(err)
	}
}

func TestADirectoryThatCannotBeUsedIsAnErrorAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := filestore.Open(file, filestore.Options{}); err == nil {
		t.Error("a file passes for a directory")
	}
}

func FuzzDigest(f *testing.F) {
	f.Add("sha256:" + strings.Repeat("0", 64))
	f.Add("sha256:../../../../etc/passwd")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		var d artifact.Digest
		if d.UnmarshalText([]byte(text)) != nil {
			return
		}
		if !bytes.Equal([]byte(d), []byte(text)) || len(d.Hex()) != 64 || strings.ContainsAny(d.Hex(), "/.\\") {
			t.Errorf("%q is taken as %q", text, d)
		}
	})
}
