package server

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// TestAChangedBitIsNamedAndNeverAnswered flips bits in one entry of a task after the other, on the disk of a server that is stopped. What the server then
// answers about the task is what it was before, or an error that names an entry.
func TestAChangedBitIsNamedAndNeverAnswered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	task := paid(t, s)
	want := told(t, s, task)
	for what, got := range want {
		if strings.HasPrefix(got, "error") {
			t.Fatalf("%s: %s", what, got)
		}
	}
	stop(t, s)
	entries := stored(t, dir, task)
	named := 0
	for at, b := range entries {
		for i := range 3 { // the checksum, the place or the length, and the content
			changed := bytes.Clone(b)
			changed[[]int{1, 7, len(b) - len(b)/(at%5+3)}[i]] ^= 1 << (at % 8)
			store(t, dir, at, changed)
			s := open(t, dir)
			for what, got := range told(t, s, task) {
				switch {
				case got == want[what]:
				case strings.HasPrefix(got, "error") && strings.Contains(got, "damaged"):
					named++
				default:
					t.Errorf("entry %d, change %d: %s is %s, was %s", at, i, what, got, want[what])
				}
			}
			stop(t, s)
			store(t, dir, at, b)
		}
	}
	if least := 3 * 3 * len(entries); len(entries) < 3 || named < least-3 { // a content that the owner was given first needs no later entry
		t.Errorf("%d answers name one of %d damaged entries, want %d", named, len(entries), least)
	}
}

// paid makes a task that ann has handed to bob, who has completed it.
func paid(t *testing.T, s *Server) (task string) {
	t.Helper()
	admin, err := client.New(s.URL(), token(t, s), client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	as := map[string]*client.Client{}
	for _, name := range []string{"ann", "bob"} {
		if _, err := admin.RegisterAgent(t.Context(), name, client.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
		made, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		if as[name], err = client.New(s.URL(), made.Text, client.Options{Retries: -1}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(as[name].Close)
	}
	large := strings.Repeat("the invoice in full, line by line; ", 600) // an entry that is not compressed
	r, err := as["ann"].CreateTask(t.Context(), client.CreateInput{Intent: "pay the invoice", Content: client.Content{Notes: large}, Start: true, Send: &client.SendInput{To: []string{"bob"}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := as["bob"].Accept(t.Context(), r.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := as["bob"].Complete(t.Context(), r.Task, client.CompleteInput{Epoch: got.Epoch, Result: client.Result{Text: "paid 900"}}); err != nil {
		t.Fatal(err)
	}
	return r.Task
}

// told is what the server answers about a task, by the kind of answer.
func told(t *testing.T, s *Server, task string) map[string]string {
	t.Helper()
	c, err := client.New(s.URL(), token(t, s), client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	text := func(v any, err error) string {
		if err != nil {
			return "error: " + err.Error()
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	shown, err1 := c.Task(t.Context(), task)
	content, err2 := c.Content(t.Context(), task, client.ContentInput{})
	trail, err3 := c.Trail(t.Context(), task)
	return map[string]string{"the task": text(shown, err1), "its content": text(content, err2), "its trail": text(trail, err3)}
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// stored returns the entries of a task as they are stored, by position.
func stored(t *testing.T, dir, task string) map[int][]byte {
	t.Helper()
	db := database(t, dir)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT position, bytes FROM entries WHERE stream = (SELECT id FROM streams WHERE name LIKE '%/task/' || ?)", task)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	entries := map[int][]byte{}
	for rows.Next() {
		var at int
		var b []byte
		if err := rows.Scan(&at, &b); err != nil {
			t.Fatal(err)
		}
		entries[at] = b
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return entries
}

func store(t *testing.T, dir string, at int, b []byte) {
	t.Helper()
	db := database(t, dir)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "UPDATE entries SET bytes = ? WHERE position = ?", b, at); err != nil {
		t.Fatal(err)
	}
}

func database(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "trapeze.db"))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestTheViewsAreNotBuiltAgainFromADamagedRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	task := paid(t, s)
	stop(t, s)
	for at, b := range stored(t, dir, task) {
		changed := bytes.Clone(b)
		changed[len(b)-1] ^= 1
		store(t, dir, at, changed)
		s, err := Open(t.Context(), Config{DataDir: dir, Addr: "127.0.0.1:0", RebuildViews: true})
		var damaged *ledger.Damaged
		if s != nil || !errors.As(err, &damaged) || int(damaged.Position) != at { //nolint:gosec // small
			t.Fatalf("%v, %v", s, err)
		}
		s = open(t, dir) // the views are there as before
		c, err := client.New(s.URL(), token(t, s), client.Options{Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		if page, err := c.Tasks(t.Context(), client.TaskFilter{}); err != nil || len(page.Tasks) != 1 || page.Tasks[0].State != "completed" {
			t.Errorf("%v: %+v", err, page)
		}
		c.Close()
		stop(t, s)
		store(t, dir, at, b)
		break
	}
	s, err := Open(t.Context(), Config{DataDir: dir, Addr: "127.0.0.1:0", RebuildViews: true})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, s)
}
