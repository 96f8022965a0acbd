package cli_test

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/cli/advice"
)

func TestCommandsToPasteActAsTheirReader(t *testing.T) {
	flags := []advice.Flag{{Name: "--agent", Value: "my agent", Acts: true}}
	known := func(words []string) int {
		for n, w := range words {
			if n > 1 || w != "task" && w != "show" && w != "inbox" && w != "dead" && w != "replay" {
				return n
			}
		}
		return len(words)
	}
	for text, want := range map[string]string{
		"wait with: trapeze task show T --wait":             "wait with: trapeze task show --agent 'my agent' T --wait",
		"trapeze inbox lists what waits":                    "trapeze inbox --agent 'my agent' lists what waits",
		"trapeze inbox, and trapeze task show T":            "trapeze inbox, and trapeze task show --agent 'my agent' T",
		"trapeze task show T --agent zoe; or trapeze inbox": "trapeze task show T --agent zoe; or trapeze inbox --agent 'my agent'",
		"an operator can replay it: trapeze task show T":    "an operator can replay it: trapeze task show T",
		"ask the sender for it; then: trapeze task show T":  "ask the sender for it; then: trapeze task show --agent 'my agent' T",
		"have zoe raise it: trapeze task show T":            "have zoe raise it: trapeze task show T",
		"list those that you have a part in: trapeze inbox": "list those that you have a part in: trapeze inbox --agent 'my agent'",
		"replay it: trapeze dead replay T":                  "replay it: trapeze dead replay T",
		"trapeze does not know it":                          "trapeze does not know it",
		"no command of trapeze":                             "no command of trapeze",
	} {
		if got := advice.Repeat(text, flags, known); got != want {
			t.Errorf("%q became\n%q, want\n%q", text, got, want)
		}
		if got := advice.Repeat(text, []advice.Flag{{Name: "--agent", Acts: true}}, known); got != text {
			t.Errorf("without an agent %q became %q", text, got)
		}
	}
}
