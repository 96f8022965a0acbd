package last_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

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

func TestTheEpochsOfTheNewestTasksOfACallerAreRemembered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agents", "last")
	hold := func(caller, task string, n uint64) {
		t.Helper()
		if err := last.Hold(dir, caller, task, last.Epoch{N: n, Agent: caller}); err != nil {
			t.Fatal(err)
		}
	}
	hold("coder", "task_1", 1)
	hold("coder", "task_1", 3)
	hold("tester", "task_1", 2)
	hold("coder", "task_2", 1)
	last.Drop(dir, "coder", "task_2")
	for _, c := range []struct {
		caller, task string
		want         last.Epoch
	}{
		{"coder", "task_1", last.Epoch{N: 3, Agent: "coder"}},
		{"tester", "task_1", last.Epoch{N: 2, Agent: "tester"}},
		{"coder", "task_2", last.Epoch{}},
		{"nobody", "task_1", last.Epoch{}},
	} {
		if got := last.Held(dir, c.caller, c.task); got != c.want {
			t.Errorf("%s, %s: %+v, want %+v", c.caller, c.task, got, c.want)
		}
	}
	epochs := filepath.Join(dir, "epochs~", "coder")
	if err := os.Chtimes(filepath.Join(epochs, "task_1"), time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if err := os.WriteFile(filepath.Join(epochs, fmt.Sprint("more_", i)), []byte("1 coder\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hold("coder", "task_3", 5)
	if files, err := os.ReadDir(epochs); err != nil || len(files) != 1000 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if got := last.Held(dir, "coder", "task_1"); got != (last.Epoch{}) {
		t.Errorf("the oldest: %+v", got)
	}
	if got := last.Held(dir, "coder", "task_3"); got.N != 5 {
		t.Errorf("the newest: %+v", got)
	}
}
