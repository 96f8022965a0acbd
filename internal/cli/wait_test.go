package cli_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/cli"
)

// A person at a terminal, who sees nothing until something happens, is told that the command waits; a program is not.
func TestEventsSaysAtATerminalThatItFollows(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/me" {
			_, _ = w.Write([]byte("{}"))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("id: 1\nevent: entry\ndata: {\"position\":1,\"kind\":\"task\",\"id\":\"" + hostileTask + "\",\"actor\":\"ann\",\"events\":[\"task-created\"]}\n\n"))
	}))
	defer srv.Close()
	for _, terminal := range []bool{true, false} {
		var out, said bytes.Buffer
		code := cli.Main(t.Context(), []string{"--url", srv.URL, "--token", "t", "events", "--count", "1"}, cli.Env{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said, Getenv: func(string) string { return "" }, Terminal: terminal,
		})
		if code != 0 || !strings.Contains(out.String(), "task-created") || strings.Contains(said.String(), "following the events; end with Ctrl-C") != terminal {
			t.Errorf("terminal %t: exit code %d\n%s%s", terminal, code, out.String(), said.String())
		}
	}
}
