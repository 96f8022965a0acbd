package webpage_test

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/api/webpage/human"
)

func TestIDsHaveNames(t *testing.T) {
	names := human.Names{"task_1": "Refund  order 7"}
	for id, want := range map[string]string{
		"task_1": "Refund order 7", "task_1.h2": "Refund order 7, handoff 2", "task_1.k1": "Refund order 7, ticket 1", "task/task_1": "Refund order 7",
		"task_2.h1": "task_2.h1", "memory/mem_1": "memory/mem_1",
	} {
		if got := names.Of(id); got != want {
			t.Errorf("%s is %q, not %q", id, got, want)
		}
	}
	if got := names.In("1 of 2 were not changed: task_1: it has ended; task_2: it has ended"); got != "1 of 2 were not changed: Refund order 7: it has ended; task_2: it has ended" {
		t.Error(got)
	}
}
