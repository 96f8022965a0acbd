//go:build slow

package server

import (
	"errors"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/multiplex"
)

// Calls on one connection are answered before the server stops, as others are, and each counts as one in progress.
func TestAServerThatStopsAnswersAllCallsOnASharedConnection(t *testing.T) {
	s, admin := toStop(t, Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0"})
	if _, err := admin.RegisterAgent(t.Context(), "coder", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	created, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "coder"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(s.URL(), created.Text, client.Options{HTTP: multiplex.HTTP(nil), Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	const calls = 500 // their answers take longer than anything else that ends
	answered := make(chan error, calls)
	for range calls {
		go func() {
			_, err := c.Inbox(t.Context(), client.InboxOptions{Wait: client.MaxWait})
			answered <- err
		}()
	}
	waitFor(t, calls)
	if n := s.calls.Load(); n != calls+1 {
		t.Errorf("%d calls are in progress, want %d: the connection, and the calls on it", n, calls+1)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for range calls {
		if err := <-answered; !errors.Is(err, client.Unavailable) || !strings.Contains(err.Error(), "stopping") {
			t.Fatalf("got %v", err)
		}
	}
}
