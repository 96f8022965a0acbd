package server

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// ready asks a server whether it is ready.
func ready(t *testing.T, s *Server) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/readyz", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// TestALogThatLostItsLastEntriesGivesNoPositionTwice removes the last entries of a server that is stopped, with their views, as if the file were one of
// before.
func TestALogThatLostItsLastEntriesGivesNoPositionTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	stop(t, s)
	older, err := os.ReadFile(filepath.Join(dir, "trapeze.db"))
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	paid(t, s)
	stop(t, s)
	if err := os.WriteFile(filepath.Join(dir, "trapeze.db"), older, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	before, err := s.log.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if status, body := ready(t, s); status != http.StatusServiceUnavailable || !strings.Contains(body, "were acknowledged and are missing") {
		t.Errorf("the server is ready: %d, %s", status, body)
	}
	c, err := client.New(s.URL(), token(t, s), client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.RegisterAgent(t.Context(), "ada", client.AgentSpec{}); err == nil || !strings.Contains(err.Error(), "unavailable") {
		t.Errorf("an append is answered %v", err)
	}
	if after, err := s.log.Last(t.Context()); err != nil || after != before {
		t.Errorf("the record ends at %d, was %d, %v", after, before, err)
	}
}

// TestAServerWhoseRecordWasChangedIsNotReady exchanges an entry for another with a valid checksum, which only the tree can tell.
func TestAServerWhoseRecordWasChangedIsNotReady(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	task := paid(t, s)
	if status, body := ready(t, s); status != http.StatusOK {
		t.Errorf("%d, %s", status, body)
	}
	stop(t, s)
	entries := stored(t, dir, task)
	last := 0
	for at := range entries {
		last = max(last, at)
	}
	plain, err := unframed(t, dir, last)
	if err != nil {
		t.Fatal(err)
	}
	store(t, dir, last, []byte(strings.Replace(plain, "paid 900", "paid 100", 1))) // as data directories of the first format have it: without a checksum
	s = open(t, dir)
	if status, body := ready(t, s); status != http.StatusServiceUnavailable || !strings.Contains(body, "not the one that was acknowledged") {
		t.Errorf("the server is ready: %d, %s", status, body)
	}
	stop(t, s)
	store(t, dir, last, []byte(plain))
	s = open(t, dir)
	if status, body := ready(t, s); status != http.StatusOK {
		t.Errorf("with the entry that was there before, %d, %s", status, body)
	}
}

// unframed returns the bytes of an entry.
func unframed(t *testing.T, dir string, at int) (string, error) {
	t.Helper()
	s := open(t, dir)
	defer stop(t, s)
	entries, err := s.log.Read(t.Context(), ledger.Position(at-1), 1) //nolint:gosec // never negative
	if err != nil {
		return "", err
	}
	b, err := entries[0].Encode()
	return string(b), err
}
