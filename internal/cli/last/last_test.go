package last_test

import (
	"path/filepath"
	"testing"

	"github.com/trapezehq/trapeze/internal/cli/last"
)

func TestEachCallerHasALastTaskOfItsOwn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agents", "last")
	if got := last.Load(dir, "coder"); got != "" {
		t.Errorf("before anything was saved: %q", got)
	}
	for _, task := range []string{"task_1", "task_2"} {
		if err := last.Save(dir, "coder", task); err != nil {
			t.Fatal(err)
		}
	}
	if err := last.Save(dir, "tester", "task_3"); err != nil {
		t.Fatal(err)
	}
	if got, other := last.Load(dir, "coder"), last.Load(dir, "tester"); got != "task_2" || other != "task_3" {
		t.Errorf("%q and %q", got, other)
	}
}
