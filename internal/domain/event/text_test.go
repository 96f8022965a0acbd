package event_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestTextAndJSONAreBounded(t *testing.T) {
	for text, want := range map[string]refusal.Code{"": "", "fine\n": "", "\xff": refusal.Invalid, "12345678901": refusal.TooLarge} {
		if got := refusal.CodeOf(event.CheckText("the note", text, 10)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for text, want := range map[string]refusal.Code{
		"": "", `{"a":"[[[[\"[["}`: "", deep(event.MaxJSONDepth): "", deep(event.MaxJSONDepth + 1): refusal.Invalid, "{": refusal.Invalid,
		"\"\xff\"": refusal.Invalid, `"` + strings.Repeat("x", 1000) + `"`: refusal.TooLarge,
	} {
		if got := refusal.CodeOf(event.CheckJSON("the data", json.RawMessage(text), 1000)); got != want {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}
