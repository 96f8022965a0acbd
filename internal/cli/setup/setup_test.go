package setup

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	trapeze "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// tools are those of the MCP server.
var tools = []string{
	"join", "send", "inbox", "accept", "reject", "decide", "progress", "complete", "escalate", "ask", "status", "cancel", "remember",
	"recall", "conversation", "route",
}

func TestDoctorFailsIfAndOnlyIfSomethingNeedsToBeFixed(t *testing.T) {
	for _, c := range []struct {
		states []state
		fails  bool
	}{
		{nil, false},
		{[]state{fine}, false},
		{[]state{noted, noted}, false},
		{[]state{fine, noted, fine}, false},
		{[]state{wrong}, true},
		{[]state{fine, wrong, noted}, true},
		{[]state{noted, wrong, wrong}, true},
	} {
		var list []finding
		for _, s := range c.states {
			list = append(list, finding{State: s})
		}
		if err := judged(list).err(); (err != nil) != c.fails || (shell.ExitCode(err) != 0) != c.fails {
			t.Errorf("%v ends with %d: %v", c.states, shell.ExitCode(err), err)
		}
	}
	if !strings.Contains(doctorLong, "The exit code is 1 if, and only if, something needs to be fixed") {
		t.Error("the help does not say when the exit code is 1")
	}
}

func TestInstructionsNameEveryTool(t *testing.T) {
	for _, name := range tools {
		if !strings.Contains(skill, "`"+name+"`") {
			t.Errorf("the skill does not mention %s", name)
		}
	}
	for _, name := range []string{"join", "send", "inbox", "accept", "reject", "complete", "progress", "ask", "escalate"} {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("AGENTS.md does not mention %s", name)
		}
	}
	if n := len(section); n > 2000 {
		t.Errorf("the section of AGENTS.md has %d bytes, and every session pays for it", n)
	}
	if _, rest, ok := strings.Cut(skill, "description: >-\n"); !ok || strings.Index(rest, "---") > 1024 {
		t.Error("the skill's description is longer than a client reads")
	}
}

func TestTheReasonOfAHookIsBoundedAndEscaped(t *testing.T) {
	var items []trapeze.Item
	for range 50 {
		items = append(items, trapeze.Item{Type: "offer", ID: "task_1.h1", From: "x\ny", Intent: strings.Repeat("\"}\x1b[2J\n", 400)})
	}
	got := reason("claude", items)
	if strings.ContainsAny(got, "\x1b") || strings.Count(got, "\n") > hookItems+3 || len(got) > 6000 || !utf8.ValidString(got) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestClockDifferencesAreFound(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	for by, want := range map[time.Duration]time.Duration{
		0: 0, 900 * time.Millisecond: 0, -2 * time.Second: 0, time.Minute: 58 * time.Second, -time.Hour: -(time.Hour - 2*time.Second),
	} {
		if got := skew(answer{date: now, now: now.Add(by), took: time.Second}); got != want {
			t.Errorf("skew of %s: %s, want %s", by, got, want)
		}
	}
	if got := skew(answer{now: now}); got != 0 {
		t.Errorf("a server without a date has a skew of %s", got)
	}
}

func TestOnlyAServersAnswerIsAHandshake(t *testing.T) {
	for message, want := range map[string]string{
		`{"result":{"serverInfo":{"name":"trapeze"}}}`: "",
		`{"error":{"code":-32600,"message":"no"}}`:     "no",
		`{"result":{}}`: "names no server",
		`hello`:         "not JSON",
	} {
		if err := checkWelcome([]byte(message)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", message, err)
		}
	}
}

func TestAHandshakeComesAsJSONOrAsAnEvent(t *testing.T) {
	for _, media := range []string{"application/json", "text/event-stream"} {
		deleted := false
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				deleted = r.Header.Get("Mcp-Session-Id") == "s1"
				return
			}
			w.Header().Set("Content-Type", media)
			w.Header().Set("Mcp-Session-Id", "s1")
			if media != "application/json" {
				fmt.Fprint(w, "event: message\nid: 1\ndata:\n\ndata: ")
			}
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"trapeze"}}}`, "\n\n")
		}))
		if err := overHTTP(t.Context(), s.Client(), s.URL, "token"); err != nil || !deleted {
			t.Errorf("%s: %v, session ended: %v", media, err, deleted)
		}
		s.Close()
	}
}
