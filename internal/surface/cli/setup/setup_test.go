package setup

import (
	"strings"
	"testing"
	"unicode/utf8"

	trapeze "github.com/trapezehq/trapeze/client"
)

// tools are those of the MCP server.
var tools = []string{
	"join", "send", "inbox", "accept", "reject", "decide", "progress", "complete", "escalate", "ask", "status", "cancel", "remember",
	"recall", "conversation", "route",
}

func TestAgentsAreTaughtWhatThereIs(t *testing.T) {
	for _, name := range tools {
		if !strings.Contains(skill, "`"+name+"`") {
			t.Errorf("the skill does not tell of %s", name)
		}
	}
	for _, name := range []string{"join", "send", "inbox", "accept", "reject", "complete", "progress", "ask", "escalate"} {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("AGENTS.md does not tell of %s", name)
		}
	}
	if n := len(section); n > 2000 {
		t.Errorf("the section of AGENTS.md has %d bytes, and every session pays for it", n)
	}
	if _, rest, ok := strings.Cut(skill, "description: >-\n"); !ok || strings.Index(rest, "---") > 1024 {
		t.Error("the skill's description is longer than a client reads")
	}
}

func TestAnInboxOfOthersWordsIsToldInBounds(t *testing.T) {
	var items []trapeze.Item
	for range 50 {
		items = append(items, trapeze.Item{Type: "offer", ID: "task_1.h1", From: "x\ny", Intent: strings.Repeat("\"}\x1b[2J\n", 400)})
	}
	got := reason("claude", items)
	if strings.ContainsAny(got, "\x1b") || strings.Count(got, "\n") > hookItems+3 || len(got) > 6000 || !utf8.ValidString(got) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestWordsReachAShellAsTheyAre(t *testing.T) {
	for word, want := range map[string]string{
		"trapeze": "trapeze", "": "''", "/a b/c": "'/a b/c'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "http://127.0.0.1:1": "http://127.0.0.1:1",
	} {
		if got := quoted(word); got != want {
			t.Errorf("%q became %s", word, got)
		}
	}
}
