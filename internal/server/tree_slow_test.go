//go:build slow

package server

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

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
