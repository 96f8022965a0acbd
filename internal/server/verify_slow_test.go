//go:build slow

package server

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// TestEveryChangeOfADataDirectoryIsFoundAndNamed changes a data directory in many ways that leave SQLite content, and some that do not.
func TestEveryChangeOfADataDirectoryIsFoundAndNamed(t *testing.T) {
	dir, entries, _, kept := recorded(t)
	if found := verified(t, dir, kept); len(found) != 0 {
		t.Fatalf("an untouched data directory: %v", found)
	}
	db := database(t, dir)
	var last int
	err := db.QueryRowContext(t.Context(), "SELECT max(position) FROM entries").Scan(&last)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	first := last
	for at := range entries {
		first = min(first, at)
	}
	for what, change := range structural {
		t.Run(what, func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, 8)) //nolint:gosec // reproducible on purpose
			for n := range changedPlaces {
				at := first
				if n > 0 {
					at = 3 + random.IntN(last-3) // with two entries before it, and one after
				}
				statements, want := change(at, last)
				copied := copyOf(t, dir)
				exec(t, copied, statements)
				named(t, verified(t, copied, kept), want)
			}
		})
	}
}

// structural are changes at a position of a record, which ends at another. They return what has to be named.
var structural = map[string]func(at, last int) (statements string, named int){
	"an entry is deleted": func(at, _ int) (string, int) {
		return fmt.Sprintf("DELETE FROM entries WHERE position = %d", at), at
	},
	"the last entries are deleted": func(at, _ int) (string, int) {
		return fmt.Sprintf("DELETE FROM entries WHERE position >= %d", at), at
	},
	"the last entry is deleted": func(_, last int) (string, int) {
		return fmt.Sprintf("DELETE FROM entries WHERE position = %d", last), last
	},
	"two entries change places": func(at, _ int) (string, int) {
		return fmt.Sprintf("UPDATE entries SET position = -1 WHERE position = 2; UPDATE entries SET position = 2 WHERE position = %d; UPDATE entries SET position = %d WHERE position = -1", at, at), 2
	},
	"an entry is written twice": func(at, _ int) (string, int) {
		return fmt.Sprintf("INSERT OR REPLACE INTO entries SELECT %d, stream, bytes FROM entries WHERE position = %d", at, at-1), at
	},
	"an entry is appended": func(at, last int) (string, int) {
		return fmt.Sprintf("INSERT INTO entries SELECT %d, stream, bytes FROM entries WHERE position = %d", last+1, at), last + 1
	},
	"an entry is emptied": func(at, _ int) (string, int) {
		return fmt.Sprintf("UPDATE entries SET bytes = x'' WHERE position = %d", at), at
	},
	"an entry is cut off": func(at, _ int) (string, int) {
		return fmt.Sprintf("UPDATE entries SET bytes = substr(bytes, 1, length(bytes) / 2) WHERE position = %d", at), at
	},
	"all entries are deleted":    func(int, int) (string, int) { return "DELETE FROM entries", 1 },
	"the first entries are gone": func(at, _ int) (string, int) { return fmt.Sprintf("DELETE FROM entries WHERE position < %d", at), 1 },
	"an entry in place of another": func(at, _ int) (string, int) {
		return fmt.Sprintf("UPDATE entries SET bytes = (SELECT bytes FROM entries WHERE position = 1) WHERE position = %d", at), at
	},
	"those after it move up": func(at, last int) (string, int) {
		var b strings.Builder
		_, _ = fmt.Fprintf(&b, "DELETE FROM entries WHERE position = %d", at)
		for p := at + 1; p <= last; p++ {
			_, _ = fmt.Fprintf(&b, "; UPDATE entries SET position = %d WHERE position = %d", p-1, p)
		}
		return b.String(), at
	},
}

// TestEveryChangeOfAViewIsFound changes, deletes and adds rows of each table of the views.
func TestEveryChangeOfAViewIsFound(t *testing.T) {
	t.Parallel()
	dir, _, _, _ := recorded(t)
	if found := views(t, dir); len(found) != 0 {
		t.Fatalf("an untouched data directory: %v", found)
	}
	for table, change := range map[string]string{
		"view_task":     "UPDATE view_task SET owner = 'eve'",
		"view_rare":     "INSERT INTO view_rare VALUES('default', 'parked', 'task_x')",
		"view_inbox":    "INSERT INTO view_inbox VALUES('default', 0, 'eve', 'ann', 1, 'task_x.h1', x'00')",
		"view_offer":    "INSERT INTO view_offer VALUES('default', 'task_x.h1', x'00')",
		"view_involved": "DELETE FROM view_involved",
		"view_agent":    "UPDATE view_agent SET name = 'mallory' WHERE name = 'bob'",
		"view_token":    "DELETE FROM view_token WHERE id = (SELECT min(id) FROM view_token)",
	} {
		copied := copyOf(t, dir)
		exec(t, copied, change)
		if found := views(t, copied); len(found) != 1 || !strings.Contains(found[0], table) {
			t.Errorf("%s: found %v", change, found)
		}
		if found := verified(t, copied); len(found) != 0 {
			t.Errorf("%s: the record is blamed: %v", change, found)
		}
	}
}

func TestEveryFlippedBitOfTheTreeIsFound(t *testing.T) {
	dir, _, _, _ := recorded(t)
	random := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // reproducible on purpose
	copied := copyOf(t, dir)
	for _, name := range []string{"tree", "checkpoint"} {
		path := filepath.Join(copied, "proof", name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 * flippedBits {
			changed, bit := bytes.Clone(b), random.IntN(len(b)*8)
			changed[bit/8] ^= 1 << (bit % 8)
			if err := os.WriteFile(path, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			if len(verified(t, copied)) == 0 {
				t.Errorf("bit %d of the %s can change", bit, name)
			}
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnOlderCopyIsFoundByANewerCheckpoint(t *testing.T) {
	t.Parallel()
	dir, _, _, _ := recorded(t)
	older := copyOf(t, dir)
	before, err := checkpointIn(t, older)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	if _, err := s.UseCases.Tokens.Bootstrap(context.Background(), "default"); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	newer, err := checkpointIn(t, dir)
	if err != nil || newer.Size <= before.Size {
		t.Fatalf("%+v, %v", newer, err)
	}
	if found := verified(t, older); len(found) != 0 {
		t.Errorf("without a newer checkpoint: %v", found)
	}
	named(t, verified(t, older, newer), int(before.Size)+1)
}

func exec(t *testing.T, dir, statements string) {
	t.Helper()
	db := database(t, dir)
	defer func(db *sql.DB) { _ = db.Close() }(db)
	for one := range strings.SplitSeq(statements, ";") {
		if _, err := db.ExecContext(t.Context(), one); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnArtifactThatIsMissingIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	c, err := client.New(s.URL(), token(t, s), client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a, err := c.PutArtifact(t.Context(), strings.NewReader("the contract"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.RegisterAgent(t.Context(), "bob", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "sign it", Content: client.Content{Artifacts: []client.Artifact{{Digest: a.Digest}}}, Send: &client.SendInput{To: []string{"bob"}}}); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	for _, want := range []int{0, 1} {
		if found := missing(t, dir); len(found) != want || want > 0 && !strings.Contains(found[0], a.Digest) {
			t.Errorf("missing: %q", found)
		}
		if err := os.RemoveAll(filepath.Join(dir, "artifacts", "data")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatALossOfPowerLeavesOfTheTreeIsNoFinding has zeros in the place of what was stored of the tree after the last checkpoint.
func TestWhatALossOfPowerLeavesOfTheTreeIsNoFinding(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	paid(t, s)
	stop(t, s)
	files := filepath.Join(dir, "proof")
	before, err := os.ReadFile(filepath.Join(files, "checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := os.Stat(filepath.Join(files, "tree"))
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	paid(t, s)
	stop(t, s)
	whole, err := os.ReadFile(filepath.Join(files, "tree"))
	if err != nil {
		t.Fatal(err)
	}
	clear(whole[tree.Size()+64:])
	if err := errors.Join(os.WriteFile(filepath.Join(files, "tree"), whole, 0o600), os.WriteFile(filepath.Join(files, "checkpoint"), before, 0o600)); err != nil {
		t.Fatal(err)
	}
	if found := verified(t, dir); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	clear(whole[tree.Size()-32:])
	if err := os.WriteFile(filepath.Join(files, "tree"), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if found := verified(t, dir); len(found) == 0 {
		t.Error("zeros before the checkpoint are no finding")
	}
}

func TestEveryFlippedBitOfAnEntryIsFoundAndNamed(t *testing.T) {
	dir, entries, _, kept := recorded(t)
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // reproducible on purpose
	copied := copyOf(t, dir)
	for at, b := range entries {
		for range flippedBits {
			changed, bit := bytes.Clone(b), random.IntN(len(b)*8)
			changed[bit/8] ^= 1 << (bit % 8)
			store(t, copied, at, changed)
			named(t, verified(t, copied, kept), at)
		}
		store(t, copied, at, b)
	}
	if found := verified(t, copied, kept); len(found) != 0 {
		t.Errorf("with the entries that were there before: %v", found)
	}
}

// named fails the test unless the first finding that names a position names this one.
func named(t *testing.T, found []proof.Finding, at int) {
	t.Helper()
	for _, f := range found {
		if f.Position != 0 {
			if int(f.Position) != at { //nolint:gosec // small
				t.Errorf("position %d is named, want %d: %v", f.Position, at, found)
			}
			return
		}
	}
	t.Errorf("no position is named, want %d: %v", at, found)
}
