package server

import (
	"errors"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/multiplex"
)

// A call on a connection with others is answered before the server stops, as any other is, and counts as one in progress.
func TestAServerThatStopsAnswersCallsOnASharedConnection(t *testing.T) {
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
	answered := make(chan error, 1)
	go func() {
		_, err := c.Inbox(t.Context(), client.InboxOptions{Wait: client.MaxWait})
		answered <- err
	}()
	waitFor(t, 1)
	if n := s.calls.Load(); n != 2 {
		t.Errorf("%d calls are in progress, want 2: the connection, and the call on it", n)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-answered; !errors.Is(err, client.Unavailable) || !strings.Contains(err.Error(), "stopping") {
		t.Errorf("got %v", err)
	}
}
