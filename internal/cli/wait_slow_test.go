//go:build slow

package cli_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli"
)

func TestACommandThatWaitsWaitsForAServerThatRestarts(t *testing.T) {
	ticket := client.Ticket{ID: hostileTask + ".k1"}
	ticket.State, ticket.Outcome, ticket.Answer = "closed", "answered", "yes"
	for _, x := range []struct {
		args, path string
		answer     any
		says       string
	}{
		{"inbox --wait=10m", "/v1/inbox", client.Inbox{Items: []client.Item{{Type: "offer", ID: hostileTask + ".h1"}}}, hostileTask + ".h1"},
		{"task show " + hostileTask + " --wait=10m", "/v1/tasks/" + hostileTask, client.Task{ID: hostileTask, State: client.Completed}, "completed"},
		{"ticket show " + hostileTask + ".k1 --wait=10m", "/v1/tickets/" + hostileTask + ".k1", ticket, "yes"},
	} {
		t.Run(x.args, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch {
				case r.URL.Path == "/v1/me":
					_ = json.NewEncoder(w).Encode(client.Me{Role: client.RoleAgent, Name: "ann", Agent: "ann"})
				case r.URL.Path != x.path:
					t.Errorf("called %s", r.URL.Path)
				case calls.Add(1) <= 6: // more than the client's own attempts
					panic(http.ErrAbortHandler)
				default:
					_ = json.NewEncoder(w).Encode(x.answer)
				}
			}))
			defer srv.Close()
			var out, said bytes.Buffer
			code := cli.Main(t.Context(), append([]string{"--url", srv.URL, "--token", "t"}, strings.Fields(x.args)...), cli.Env{
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said, Getenv: func(string) string { return "" },
			})
			if code != 0 || !strings.Contains(out.String(), x.says) {
				t.Errorf("exit code %d\n%s%s", code, out.String(), said.String())
			}
			if strings.Count(said.String(), "; retrying") != 1 || strings.Count(said.String(), "the server is back") != 1 {
				t.Errorf("it says %q", said.String())
			}
		})
	}
}

func TestACommandDoesNotWaitForAServerThatWasNeverThere(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer srv.Close()
	var said bytes.Buffer
	code := cli.Main(t.Context(), []string{"--url", srv.URL, "--token", "t", "inbox", "--wait=10m"}, cli.Env{
		Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said, Getenv: func(string) string { return "" },
	})
	if code == 0 || strings.Contains(said.String(), "retrying") {
		t.Errorf("exit code %d: %s", code, said.String())
	}
}
