package event_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestNames(t *testing.T) {
	for _, ok := range []string{"a", "0", "code-reviewer_2.1", strings.Repeat("a", 64)} {
		if err := event.CheckName("agent name", ok); err != nil || !event.IsName(ok) {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{
		"", ".", "..", "-a", "_a", "A", "a b", "a/b", "../a", `a\b`, "a\x00", "a\n", "ä", "a\u202e", "\xff", strings.Repeat("a", 65),
	} {
		err := event.CheckName("agent name", bad)
		if r, ok := refusal.As(err); !ok || event.IsName(bad) || r.Code != refusal.Invalid || r.Hint == "" {
			t.Errorf("%q: %v", bad, err)
		} else if strings.ContainsAny(r.Message, "\x00\n\u202e") || !utf8.ValidString(r.Message) {
			t.Errorf("%q: the message repeats raw characters: %q", bad, r.Message)
		}
	}
}

func TestAnIDAndChecksThatPassTakeOneAllocation(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() {
		_, _ = event.HandoffID("task_1", 2), event.CheckName("the name", "reviewer")
		_ = event.Budget{Tokens: 1}.Check("the budget")
		_, _ = event.IsName("agent/reviewer"), event.CheckField("intent", "write a page")
	}); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func TestLabelsAreWordsOfOtherSystems(t *testing.T) {
	for _, good := range []string{"ada", "refunds:write", "coder-2", "ada@host", "åsa", "日本", "a.b", strings.Repeat("x", event.MaxName)} {
		if err := event.CheckLabel("a permission", good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", ".", "..", "a b", "a\tb", "a\x00", "a\x7f", "a\u202eb", "a\u200bb", "a/b", `a\b`, "a*", "a>", `a"`, "a'", "\xff", strings.Repeat("x", event.MaxName+1),
	} {
		if err := event.CheckLabel("a permission", bad); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
