package httpapi_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/tracing"
)

func TestOnlyWhatCanBeTheNameOfAToolIsTakenForOne(t *testing.T) {
	for text, want := range map[string]string{
		"send": "send", "trapeze_send": "trapeze_send", "my-1.tool": "my-1.tool", "": "", "a b": "", "sénd": "", "a\x00": "",
		strings.Repeat("a", 64): strings.Repeat("a", 64), strings.Repeat("a", 65): "",
	} {
		if got := tracing.ToolName(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
