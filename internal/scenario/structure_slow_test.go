//go:build slow && !race

package scenario

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	api "github.com/trapezehq/trapeze/client"
)

// structure is a data directory whose structure is changed, with an older copy of it, and a checkpoint of one that went on from there.
type structure struct {
	*evidence
	older, kept string
	last        int
	artifacts   []string
	views       []string
}

// newStructure makes the directory. Another copy of the older one goes on otherwise, which is a fork.
func newStructure(t *testing.T, args ...string) (s *structure, forked string) {
	t.Helper()
	program, older := furnished(t, args...)
	s = &structure{evidence: &evidence{TB: t, program: program, dir: t.TempDir(), random: reproducible(t, 13)}, older: older}
	forked = t.TempDir()
	for _, dir := range []string{s.dir, forked} {
		if err := os.CopyFS(dir, os.DirFS(older)); err != nil {
			t.Fatal(err)
		}
	}
	s.grow(s.dir, "go on", args)
	s.grow(forked, "go on otherwise, and further", args)
	s.kept = filepath.Join(t.TempDir(), "kept.txt")
	if err := os.WriteFile(s.kept, s.read("proof/checkpoint"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := s.db("mode=ro&immutable=1", func(ctx context.Context, db *sql.DB) error {
		names, err := query(ctx, db, tables)
		for _, row := range names {
			if name := fmt.Sprint(row[0]); strings.HasPrefix(name, "view_") && baseOf(name) == name && name != "view_meta" && name != "view_kept" {
				s.views = append(s.views, name)
			}
		}
		return errors.Join(err, db.QueryRowContext(ctx, "SELECT max(position) FROM entries").Scan(&s.last))
	})
	if err != nil {
		t.Fatal(err)
	}
	s.artifacts = s.files(func(name string) bool { return strings.HasPrefix(name, "artifacts/data") })
	return s, forked
}

// grow has the server of a directory record some more.
func (s *structure) grow(dir, intent string, args []string) {
	s.Helper()
	r := newRig(s.TB, dir, "")
	r.program = append([]string{s.program, "serve"}, args...)
	c := r.client(r.start(), r.token)
	defer c.Close()
	for range 8 {
		if _, err := c.CreateTask(s.Context(), api.CreateInput{Intent: intent}); err != nil {
			s.Fatal(err)
		}
	}
	if err := r.term(); err != nil {
		s.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, recordName+".reserve")); err != nil {
		s.Fatal(err)
	}
}

// sql changes the database by statements, of which each must change something.
func (s *structure) sql(names []string, statements ...string) {
	s.Helper()
	b := s.read(recordName)
	defer s.write(recordName, b)
	err := s.db("", func(ctx context.Context, db *sql.DB) error {
		for _, text := range statements {
			done, err := db.ExecContext(ctx, text)
			if err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
			if n, err := done.RowsAffected(); err != nil || n == 0 && !strings.HasPrefix(text, "DROP") {
				return fmt.Errorf("%s: %d rows, %w", text, n, err)
			}
		}
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
	s.named(strings.Join(statements, "; "), names...)
}

// file changes a file, which is nil if it is removed.
func (s *structure) file(name string, changed []byte, names ...string) {
	s.Helper()
	b := s.read(name)
	if bytes.Equal(b, changed) {
		s.Fatalf("%s is the same", name)
	}
	defer s.write(name, b)
	if changed == nil {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			s.Fatal(err)
		}
	} else {
		s.write(name, changed)
	}
	s.named(fmt.Sprintf("%s has %d bytes in place of %d", name, len(changed), len(b)), names...)
}

func (s *structure) at() int { return 2 + s.random.IntN(s.last-2) }

func position(at int) []string { return []string{fmt.Sprintf("position %d:", at)} }

// changes are the kinds of changes.
func (s *structure) changes() map[string]func() {
	one := func(list []string) string { return list[s.random.IntN(len(list))] }
	lines := func(name string) [][]byte {
		return bytes.SplitAfter(bytes.TrimSuffix(s.read(name), []byte("\n")), []byte("\n"))
	}
	hash := func(b []byte) int { return 32 * s.random.IntN(len(b)/32-1) }
	return map[string]func(){
		"an entry is deleted":        func() { at := s.at(); s.sql(position(at), fmt.Sprint("DELETE FROM entries WHERE position = ", at)) },
		"the record is cut":          func() { at := s.at(); s.sql(position(at), fmt.Sprint("DELETE FROM entries WHERE position >= ", at)) },
		"the first entries are gone": func() { at := s.at(); s.sql(position(1), fmt.Sprint("DELETE FROM entries WHERE position < ", at)) },
		"two entries change places": func() {
			at := s.at() - 1
			swap := "UPDATE entries SET position = %d WHERE position = %d"
			s.sql(position(at), fmt.Sprintf(swap, -1, at), fmt.Sprintf(swap, at, at+1), fmt.Sprintf(swap, at+1, -1))
		},
		"an entry is there twice": func() {
			s.sql(position(s.last+1), fmt.Sprintf("INSERT INTO entries SELECT %d, stream, bytes FROM entries WHERE position = %d", s.last+1, s.at()))
		},
		"an entry is replaced": func() {
			at := s.at()
			s.sql(position(at), fmt.Sprintf("UPDATE entries SET bytes = (SELECT bytes FROM entries WHERE position = %d) WHERE position = %d", at-1, at))
		},
		"a stream is deleted": func() {
			s.sql([]string{"position", "index of streams"}, fmt.Sprintf("DELETE FROM streams WHERE id = (SELECT stream FROM entries WHERE position = %d)", s.at()))
		},
		"a row of a view is deleted": func() {
			name := one(s.views)
			s.sql([]string{name}, s.ofRow("DELETE FROM "+name, name))
		},
		"a view is emptied": func() { name := one(s.views); s.sql([]string{name}, "DELETE FROM "+name) },
		"a view is gone": func() {
			name := one(s.views)
			s.sql([]string{name}, "DROP TABLE "+name)
		},
		"an artifact is deleted": func() { name := one(s.artifacts); s.file(name, nil, filepath.Base(name)) },
		"an artifact is cut": func() {
			name := one(s.artifacts)
			b := s.read(name)
			s.file(name, b[:s.random.IntN(len(b))], filepath.Base(name))
		},
		"an artifact is longer":  func() { name := one(s.artifacts); s.file(name, append(s.read(name), "more"...), filepath.Base(name)) },
		"an artifact is another": func() { s.file(s.artifacts[0], s.read(s.artifacts[1]), filepath.Base(s.artifacts[0])) },
		"the tree is cut":        func() { b := s.read("proof/tree"); s.file("proof/tree", b[:hash(b)], "tree") },
		"the tree loses a hash": func() {
			b := s.read("proof/tree")
			i := hash(b)
			s.file("proof/tree", slices.Delete(bytes.Clone(b), i, i+32), "tree")
		},
		"a hash is there twice": func() {
			b := s.read("proof/tree")
			i := hash(b)
			s.file("proof/tree", slices.Insert(bytes.Clone(b), i, b[i:i+32]...), "tree")
		},
		"the tree is gone":       func() { s.file("proof/tree", nil, "tree") },
		"the checkpoint is gone": func() { s.file("proof/checkpoint", nil, "checkpoint") },
		"the checkpoint is cut": func() {
			b := s.read("proof/checkpoint")
			s.file("proof/checkpoint", b[:s.random.IntN(len(b))], "checkpoint")
		},
		"the private key is cut":    func() { b := s.read("proof/key"); s.file("proof/key", b[:s.random.IntN(len(b))], "proof/key") },
		"an old public key is gone": func() { s.file("proof/keys", bytes.Join(lines("proof/keys")[1:], nil), "proof/keys") },
		"public keys change places": func() {
			list := lines("proof/keys")
			s.file("proof/keys", slices.Concat(list[1], []byte("\n"), list[0]), "proof/keys")
		},
		"the public keys are gone": func() { s.file("proof/keys", nil, "proof/keys") },
		"the record is an older one": func() {
			b, err := os.ReadFile(filepath.Join(s.older, recordName))
			if err != nil {
				s.Fatal(err)
			}
			s.file(recordName, b, "position")
		},
	}
}

// ofRow is a statement with a condition for one row of a table.
func (s *structure) ofRow(statement, table string) (text string) {
	s.Helper()
	err := s.db("mode=ro&immutable=1", func(ctx context.Context, db *sql.DB) error {
		keys, err := query(ctx, db, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", table)
		if err != nil {
			return err
		}
		columns := "rowid"
		if len(keys) > 0 {
			var list []string
			for _, k := range keys {
				list = append(list, fmt.Sprint(k[0]))
			}
			columns = strings.Join(list, ", ")
		}
		rows, err := query(ctx, db, "SELECT 1 FROM "+table)
		text = fmt.Sprintf("%s WHERE (%s) IN (SELECT %s FROM %s LIMIT 1 OFFSET %d)", statement, columns, columns, table, s.random.IntN(max(1, len(rows))))
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return text
}

// TestEveryChangeOfTheStructureIsNamed deletes, swaps, cuts, doubles and exchanges what is in a data directory.
func TestEveryChangeOfTheStructureIsNamed(t *testing.T) {
	embedded(t)
	for name, args := range map[string][]string{"in the clear": nil, "erasable": {"--erasable"}} {
		t.Run(name, func(t *testing.T) {
			s, forked := newStructure(t, args...)
			if said, found := s.verify("--checkpoint", s.kept); found {
				t.Fatalf("an untouched directory: %s", said)
			}
			changes := s.changes()
			list := slices.Sorted(maps.Keys(changes))
			for i := range *structural / 2 {
				changes[list[i%len(list)]]()
			}
			if said, found := s.verify("--checkpoint", s.kept); found {
				t.Errorf("put back as it was: %s", said)
			}
			for what, dir := range map[string]string{"an older copy": s.older, "a fork": forked} {
				other := &evidence{TB: t, program: s.program, dir: dir}
				if said, found := other.verify(); found {
					t.Errorf("%s by itself: %s", what, said)
				}
				if said, found := other.verify("--checkpoint", s.kept); !found || !strings.Contains(said, "position") {
					t.Errorf("%s is not found by a checkpoint: %s", what, said)
				}
			}
		})
	}
}
