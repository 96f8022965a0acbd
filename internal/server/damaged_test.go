package server

import (
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

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
