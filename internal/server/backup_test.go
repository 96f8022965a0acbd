package server

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/backup"
)

func readers(files []*bytes.Buffer) (list []io.Reader) {
	for _, f := range files {
		list = append(list, bytes.NewReader(f.Bytes()))
	}
	return list
}

// TestOnlyArtifactsOfWorkspacesAreRestored: neither a name that could command a terminal, nor one in another place than its digest.
func TestOnlyArtifactsOfWorkspacesAreRestored(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	to := target{root: root}
	digest := strings.Repeat("ab", 32)
	for name, want := range map[string]bool{
		"default/ab/" + digest: true, "team-1/ab/" + digest: true,
		"\x1b]0;t\x07/ab/" + digest: false, "Team/ab/" + digest: false, "\u202e/ab/" + digest: false, ".x/ab/" + digest: false,
		"default/cd/" + digest: false, "default/ab/" + digest + "0": false, "default/ab/x/" + digest: false, "default/" + digest: false,
	} {
		if err := to.Content("artifacts/data/"+name, strings.NewReader("x")); (err == nil) != want || !want && !errors.Is(err, backup.ErrFormat) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestSecretsThatAreKeptApartAreNotInTheBackup looks for each of them in the file.
func TestSecretsThatAreKeptApartAreNotInTheBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	paid(t, s)
	var b, apart bytes.Buffer
	if _, err := Backup(t.Context(), dir, &b, BackupOptions{Secrets: &apart}); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	for _, name := range []string{"admin.token", "page.key", "proof/key"} {
		secret, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // the test's directory
		if err != nil {
			t.Fatal(err)
		}
		if secret = bytes.TrimSpace(secret); bytes.Contains(b.Bytes(), secret) || !bytes.Contains(apart.Bytes(), secret) {
			t.Errorf("%s is in the backup, or not with the secrets", name)
		}
	}
	to := filepath.Join(t.TempDir(), "without")
	if _, err := Restore(t.Context(), to, "", Place{}, []io.Reader{bytes.NewReader(b.Bytes())}); err != nil {
		t.Fatal(err)
	}
	name := s.tree.Keys()
	s = open(t, to) // makes new ones, and the log keeps its name
	if key := s.tree.Keys(); !strings.HasPrefix(key, name) || key == name {
		t.Errorf("the keys of the log are %q, were %q", key, name)
	}
	paid(t, s)
	stop(t, s)
	to = filepath.Join(t.TempDir(), "with")
	if _, err := Restore(t.Context(), to, "", Place{}, []io.Reader{bytes.NewReader(b.Bytes()), bytes.NewReader(apart.Bytes())}); err != nil {
		t.Fatal(err)
	}
	if s = open(t, to); s.tree.Keys() != name {
		t.Errorf("the keys of the log are %q, were %q", s.tree.Keys(), name)
	}
}
