//go:build slow

package mcpapi_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
)

// A small window gets small pages, without asking; a page that is too small for a part is refused with what it needs, to the token.
func TestPartsFitASmallWindow(t *testing.T) {
	h := open(t)
	counter, err := tokenizer.For(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	small := h.agent(statelessVersion, "small")
	if _, err := h.admin.RegisterAgent(t.Context(), "small", client.AgentSpec{ContextWindow: 900}); err != nil {
		t.Fatal(err)
	}
	small.call("join", m{})
	sent, err := h.admin.CreateTask(t.Context(), client.CreateInput{
		Intent: "Find the double charges", Content: long(), Send: &client.SendInput{To: []string{"small"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	small.read("accept", m{"handoff": sent.Handoff})
	if text := small.read("status", m{"id": sent.Task, "parts": "all"}); counter.Count(text) > 450 || counter.Count(text) < 200 || !strings.Contains(text, "goes on") {
		t.Errorf("%d tokens without asking:\n%s", counter.Count(text), text)
	}
	page := func(tokens int) (text string, refused bool) {
		text, _, refused = small.try("status", m{"id": sent.Task, "parts": "all", "tokens": tokens})
		if n := counter.Count(text); !refused && n > min(tokens, 900) {
			t.Errorf("%d tokens of %d:\n%s", n, tokens, text)
		}
		return text, refused
	}
	text, refused := page(1)
	needs := regexp.MustCompile(`use tokens (\d+) or more`).FindStringSubmatch(text)
	if !refused || needs == nil {
		t.Fatalf("a page of one token: %s", text)
	}
	needed, err := strconv.Atoi(needs[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, needed / 2, needed - 1, needed, needed + 1, 100, 300, 900, 2000, 32_000} {
		if text, refused := page(n); refused != (n < needed) {
			t.Errorf("%d tokens of the %d needed: %s", n, needed, text)
		}
	}
}
