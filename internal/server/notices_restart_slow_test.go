//go:build slow

package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/delivery/notify"
)

func TestARestartSendsNoNoticeAgain(t *testing.T) {
	t.Parallel()
	got := make(chan string, 10)
	people := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n notify.Ticket
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Error(err)
		}
		got <- n.Ticket
	}))
	defer people.Close()
	dir := t.TempDir()
	for range 3 { // each after a clean stop of the one before
		s, err := Open(t.Context(), Config{DataDir: dir, Addr: "127.0.0.1:0", Notify: []string{"webhook:" + people.URL}})
		if err != nil {
			t.Fatal(err)
		}
		want := asksPeople(t, s)
		select {
		case ticket := <-got: // notices come in order
			if ticket != want {
				t.Errorf("told again of %s, want %s", ticket, want)
			}
		case <-time.After(time.Minute):
			t.Fatal("no notice came")
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// asksPeople has an agent ask people, and returns the ticket.
func asksPeople(t *testing.T, s *Server) (ticket string) {
	t.Helper()
	as := func(token string) *client.Client {
		c, err := client.New(s.URL(), token, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	boss := as(token(t, s))
	if _, err := boss.RegisterAgent(t.Context(), "lead", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	made, err := boss.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "lead"})
	if err != nil {
		t.Fatal(err)
	}
	lead := as(made.Text)
	r, err := lead.CreateTask(t.Context(), client.CreateInput{Intent: "pay", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := lead.Ask(t.Context(), r.Task, client.AskInput{Epoch: r.Epoch, Question: "refund it?"})
	if err != nil {
		t.Fatal(err)
	}
	return asked.Ticket
}
