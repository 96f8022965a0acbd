//go:build (slow && !race) || outside

package scenario

import (
	"bytes"
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	api "github.com/trapezehq/trapeze/client"
)

// A server that cannot work must not start: it says why and what to do, ends with an exit code, and leaves the data
// unchanged.

// usedDirectory is the data directory of a server that has run and stopped.
func usedDirectory(t *testing.T, program []string) string {
	t.Helper()
	r := newRig(t, t.TempDir(), modeServe)
	r.program = program
	c := r.client(r.start(), r.token)
	if _, err := c.RegisterAgent(t.Context(), "ada", api.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := r.term(); err != nil {
		t.Fatalf("%v\n%s", err, r.stderr)
	}
	return r.dir
}

// contents are the files that matter in a data directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{"trapeze.db", "admin.token"} {
		b, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // ours
		if err == nil {
			files[name] = string(b)
		}
	}
	return files
}

// patch overwrites a piece of the database.
func patch(t *testing.T, dir string, at int, with []byte) {
	t.Helper()
	path := filepath.Join(dir, "trapeze.db")
	b, err := os.ReadFile(path) //nolint:gosec // ours
	if err != nil || len(b) < at+len(with) {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	copy(b[at:], with)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAServerThatCannotWorkSaysWhyAndChangesNothing(t *testing.T) {
	embedded(t)
	t.Parallel()
	program := crashProgram(t)
	// Places in SQLite's header: https://www.sqlite.org/fileformat.html
	const userVersion, applicationID = 60, 68
	tests := map[string]struct {
		prepare func(t *testing.T, dir string)
		says    []string // all of these
	}{
		"the file is no database": {func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "trapeze.db"), bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"trapeze.db", "restore it from a backup"}},
		"the database is damaged": {func(t *testing.T, dir string) {
			patch(t, dir, 100, bytes.Repeat([]byte{0xff}, 900))
		}, []string{"trapeze.db", "restore it from a backup"}},
		"the database is cut short": {func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, "trapeze.db"), 5000); err != nil {
				t.Fatal(err)
			}
		}, []string{"trapeze.db", "restore it from a backup"}},
		"a newer version has written it": {func(t *testing.T, dir string) {
			patch(t, dir, userVersion, binary.BigEndian.AppendUint32(nil, 99))
		}, []string{"newer", "upgrade"}},
		"it is another program's": {func(t *testing.T, dir string) {
			patch(t, dir, applicationID, []byte("ELSE"))
		}, []string{"of another program", "choose another data directory"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := usedDirectory(t, program)
			tt.prepare(t, dir)
			refusesToStart(t, program, dir, "", tt.says)
		})
	}
	t.Run("the directory is within a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		refusesToStart(t, program, filepath.Join(file, "data"), "", []string{"data directory", "not a directory"})
	})
	t.Run("the port is in use", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		refusesToStart(t, program, usedDirectory(t, program), l.Addr().String(), []string{l.Addr().String(), "in use", "another address"})
	})
	t.Run("others could listen in", func(t *testing.T) {
		refusesToStart(t, program, usedDirectory(t, program), "0.0.0.0:0", []string{"127.0.0.1", "TLS"})
	})
}

// refusesToStart starts a server, which must end with a message that has all of these words.
func refusesToStart(t *testing.T, program []string, dir, addr string, says []string) {
	t.Helper()
	before := contents(t, dir)
	r := newRig(t, dir, modeServe)
	r.program, r.addr = program, addr
	said := r.fails()
	for _, word := range says {
		if !strings.Contains(said, word) {
			t.Errorf("it does not say %q: %s", word, said)
		}
	}
	if strings.Contains(said, "goroutine ") {
		t.Errorf("it panics: %s", said)
	}
	after := contents(t, dir)
	for name, b := range before {
		if after[name] != b {
			t.Errorf("it has changed %s", name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("it has left %d files, found %d", len(after), len(before))
	}
	t.Logf("%s", said)
}

func TestASecondServerOnTheSameDataIsRefusedAndTheFirstKeepsRunning(t *testing.T) {
	embedded(t)
	t.Parallel()
	r := newRig(t, t.TempDir(), modeServe)
	r.program = crashProgram(t)
	c := r.client(r.start(), r.token)
	if _, err := c.RegisterAgent(t.Context(), "ada", api.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(filepath.Join(r.dir, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	refusesToStart(t, r.program, r.dir, "", []string{"in use", "process", "another data directory"})
	r.alive()
	if _, err := c.RegisterAgent(t.Context(), "ben", api.AgentSpec{}); err != nil {
		t.Errorf("the first server: %v", err)
	}
	if now, err := os.ReadFile(filepath.Join(r.dir, "admin.token")); err != nil || !bytes.Equal(now, token) {
		t.Errorf("the second server has changed the admin token: %v", err)
	}
	if err := r.term(); err != nil {
		t.Error(err)
	}
}
