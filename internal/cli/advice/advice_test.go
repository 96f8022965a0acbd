package advice_test

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/cli/advice"
)

func TestAHintIsACommandToPaste(t *testing.T) {
	const task = "task_01k8zq3v9m4w6x2c5n7b8d0f1g"
	for _, c := range []struct{ hint, message, want string }{
		{"add the agent first", `there is no agent "coder"`, "add the agent first: trapeze agent add coder"},
		{"add the agent first", `there is no agent "a b"; and more`, "add the agent first: trapeze agent add NAME"},
		{"register an agent first", "agent coder is not registered; no agent is", "register it first: trapeze agent add coder"},
		{"use one of: tester, writer", "agent coder is not registered", "use one of: tester, writer; or add it first: trapeze agent add coder"},
		{"use one of: tester, writer", `there is no agent "coder"`, "use one of: tester, writer"},
		{"use one of: low, high", "unknown priority", "use one of: low, high"},
		{
			"wait until somebody handles it, or withdraw it by denying it", "task " + task + " waits for ticket " + task + ".k2",
			"wait for the answer: trapeze ticket show " + task + ".k2 --wait; or withdraw it: trapeze ticket deny " + task + ".k2",
		},
		{"fetch the task to see its handoffs", "task " + task + " has no handoff 3", "trapeze task show " + task + " shows its handoffs"},
		{"try again", "it failed", "try again"},
	} {
		if got := advice.Of(c.hint, c.message); got != c.want {
			t.Errorf("%q for %q is %q, want %q", c.hint, c.message, got, c.want)
		}
	}
}
