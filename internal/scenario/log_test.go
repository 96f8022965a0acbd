//go:build slow || outside

package scenario

import (
	"bufio"
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/server"
)

const peopleAreAsked = "people are asked"

// toolTrace is the trace of a call of a tool that is about no task.
const toolTrace = "5bf92f3577b34da6a3ce929d0e0e4737"

// textLog is a log that several goroutines write.
type textLog struct {
	mu    sync.Mutex
	b     bytes.Buffer
	asked chan struct{} // closed when the log says that people are asked
}

func (l *textLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked != nil && bytes.Contains(p, []byte(peopleAreAsked)) {
		close(l.asked)
		l.asked = nil
	}
	return l.b.Write(p)
}

// TestADebugLogNamesTaskAndTraceAndHasNoContentAndNoToken: with and without a collector, everything that agents and people write is secret.
func TestADebugLogNamesTaskAndTraceAndHasNoContentAndNoToken(t *testing.T) {
	for name, collected := range map[string]bool{"with a collector": true, "without one": false} {
		t.Run(name, func(t *testing.T) {
			h := &tracedServer{tokens: map[string]string{}}
			h.otlp = newOTLP(t)
			if !collected {
				t.Setenv("OTEL_TRACES_EXPORTER", "none")
			}
			asked := make(chan struct{})
			log := &textLog{asked: asked}
			config := server.Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0", Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), Notify: []string{"log"}}
			h.serveWith(t, config)
			h.agents(t)
			task := h.three(t, clientParent)
			reviewer := h.tools(t, "reviewer")
			reviewer.call("inbox", map[string]any{"traceparent": "00-" + toolTrace + "-00f067aa0ba902b7-01"}, map[string]any{})
			reviewer.call("recall", nil, map[string]any{"query": "the merger"})
			ticket := h.ask(t, asked)
			h.mislead(t)
			h.stop()
			h.checkLog(t, log.b.String(), task, ticket)
		})
	}
}

// ask has a task of coder wait for a person, who answers.
func (h *tracedServer) ask(t *testing.T, told <-chan struct{}) (task string) {
	t.Helper()
	coder := h.as(t, "coder")
	made, err := coder.CreateTask(t.Context(), api.CreateInput{Intent: secretIntent, Start: true, Content: api.Content{Data: json.RawMessage(`{"price": "merger 17"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := coder.Progress(t.Context(), made.Task, api.ProgressInput{Epoch: made.Epoch, Note: "the merger is half done"}); err != nil {
		t.Fatal(err)
	}
	asked, err := coder.Ask(t.Context(), made.Task, api.AskInput{Epoch: made.Epoch, Question: "May the merger go on?"})
	if err != nil {
		t.Fatal(err)
	}
	select { // nobody is told of a ticket that is answered already
	case <-told:
	case <-time.After(patience):
		t.Fatal("nobody is told that people are asked")
	}
	if _, err := h.admin.Answer(t.Context(), asked.Ticket, api.AnswerInput{Answer: "The merger may go on"}); err != nil {
		t.Fatal(err)
	}
	return made.Task
}

// mislead sends tokens and content where they do not belong: every call is refused.
func (h *tracedServer) mislead(t *testing.T) {
	t.Helper()
	token := h.tokens["coder"]
	for _, c := range []struct{ method, path, auth, body string }{
		{http.MethodGet, "/v1/tasks?token=" + token, "", ""},
		{http.MethodGet, "/v1/tasks/" + token, "Bearer " + token, ""},
		{http.MethodGet, "/v1/me", "Basic " + token, ""},
		{http.MethodGet, "/v1/me", "Bearer x" + token, ""},
		{http.MethodPost, "/v1/tasks", "Bearer " + token, `{"intent": "the merger", "nothing": "` + token + `"}`},
		{http.MethodPost, "/v1/tasks", "Bearer " + token, `{"intent": "the merger" broken`},
		{http.MethodPost, "/mcp", "Bearer " + token, `{"jsonrpc": "2.0", "id": 1, "method": "the merger"}`},
		{token, "/v1/tasks", "", ""},
		{"merger", "/v1/tasks", "Bearer " + token, ""},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, h.s.URL()+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {c.auth}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Trapeze-Tool": {token}}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode < http.StatusBadRequest {
			t.Errorf("%s %s: %s", c.method, c.path, res.Status)
		}
	}
}

// checkLog searches the log.
func (h *tracedServer) checkLog(t *testing.T, text string, tasks ...string) {
	t.Helper()
	for _, secret := range []string{"merger", "Merger", "Acme", h.tokens["coder"], h.tokens["reviewer"], h.tokens["tester"], h.adminToken} {
		for line := range strings.Lines(text) {
			if strings.Contains(line, secret) {
				t.Errorf("the log has %q: %s", secret, line)
			}
		}
	}
	calls, tools, asked := map[string]int{}, map[string]string{}, 0
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		var line struct {
			Msg, Route, Task, Trace, Caller, Tool string
			Status                                int
		}
		if err := json.Unmarshal(s.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, s.Text())
		}
		switch {
		case line.Msg == peopleAreAsked && line.Task == tasks[1]:
			asked++
		case line.Route == "/v1/tasks" && line.Status == http.StatusCreated && line.Task == "":
			t.Errorf("a call that made a task does not name it: %s", s.Text())
		case line.Msg != "call":
		case len(line.Trace) != 32 || line.Caller == "" && line.Status < http.StatusBadRequest && line.Route != "/mcp":
			t.Errorf("a call has no trace or no caller: %s", s.Text())
		case line.Task == "":
			if before := tools[line.Tool]; line.Tool == "recall" && before != "" && before != line.Trace {
				t.Errorf("a tool is in two traces: %s", s.Text())
			}
			tools[line.Tool] = line.Trace
		default:
			calls[line.Task]++
			if line.Task == tasks[0] && line.Trace != clientTrace {
				t.Errorf("another trace: %s", s.Text())
			}
		}
	}
	for _, task := range tasks {
		if calls[task] == 0 {
			t.Errorf("the log does not name task %s:\n%s", task, text)
		}
	}
	if tools["inbox"] != toolTrace || len(tools["recall"]) != 32 || tools["recall"] == toolTrace {
		t.Errorf("the tools are in the traces %v", tools)
	}
	if asked == 0 {
		t.Error("the log does not say that people are asked")
	}
}
