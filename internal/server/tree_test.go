package server

import (
	"io"
	"net/http"
	"strings"
	"testing"

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
