package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/cli/last"
)

const (
	task1 = "task_00000000000000000000000001"
	task2 = "task_00000000000000000000000002"
	task3 = "task_00000000000000000000000003"
)

func TestEachCallerHasALastTaskOfItsOwn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agents", "last")
	if got := last.Load(dir, "coder"); got != "" {
		t.Errorf("before anything was saved: %q", got)
	}
	for _, task := range []string{task1, task2} {
		if err := last.Save(dir, "coder", task); err != nil {
			t.Fatal(err)
		}
	}
	if err := last.Save(dir, "tester", task3); err != nil {
		t.Fatal(err)
	}
	if got, other := last.Load(dir, "coder"), last.Load(dir, "tester"); got != task2 || other != task3 {
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
	hold("coder", task1, 1)
	hold("coder", task1, 3)
	hold("tester", task1, 2)
	hold("coder", task2, 1)
	last.Drop(dir, "coder", task2)
	for _, c := range []struct {
		caller, task string
		want         last.Epoch
	}{
		{"coder", task1, last.Epoch{N: 3, Agent: "coder"}},
		{"tester", task1, last.Epoch{N: 2, Agent: "tester"}},
		{"coder", task2, last.Epoch{}},
		{"nobody", task1, last.Epoch{}},
	} {
		if got := last.Held(dir, c.caller, c.task); got != c.want {
			t.Errorf("%s, %s: %+v, want %+v", c.caller, c.task, got, c.want)
		}
	}
	epochs := filepath.Join(dir, "epochs~", "coder")
	if err := os.Chtimes(filepath.Join(epochs, task1), time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if err := os.WriteFile(filepath.Join(epochs, fmt.Sprint("more_", i)), []byte("1 coder\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hold("coder", task3, 5)
	if files, err := os.ReadDir(epochs); err != nil || len(files) != 1000 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if got := last.Held(dir, "coder", task1); got != (last.Epoch{}) {
		t.Errorf("the oldest: %+v", got)
	}
	if got := last.Held(dir, "coder", task3); got.N != 5 {
		t.Errorf("the newest: %+v", got)
	}
}

func TestNoAnswerOfAServerNamesAFileElsewhereOrAddsALine(t *testing.T) {
	root := t.TempDir()
	dir, keys := filepath.Join(root, "agents", "last"), filepath.Join(root, "keys")
	if err := last.Hold(dir, "coder", task1, last.Epoch{N: 1, Agent: "coder"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keys, []byte("1 coder\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, task := range []string{
		"../../../../keys", "x/../../../../../keys", keys, `..\..\..\..\keys`, "..", ".", "", "keys\x00", task1 + "\n", task1 + "/../" + task2, "task_1", strings.ToUpper(task1),
	} {
		if err := last.Hold(dir, "coder", task, last.Epoch{N: 2, Agent: "coder"}); err == nil {
			t.Errorf("the epoch of %q is kept", task)
		}
		if err := last.Save(dir, "coder", task); err == nil {
			t.Errorf("%q is kept as the last task", task)
		}
		if got := last.Held(dir, "coder", task); got != (last.Epoch{}) {
			t.Errorf("%q is held under %+v", task, got)
		}
		last.Drop(dir, "coder", task)
	}
	for _, agent := range []string{"", "x\nssh-ed25519 KEY", "a b", "../x", "x\x00"} {
		if err := last.Hold(dir, "coder", task1, last.Epoch{N: 2, Agent: agent}); err == nil {
			t.Errorf("the agent %q is kept", agent)
		}
	}
	if got, err := os.ReadFile(keys); err != nil || string(got) != "1 coder\n" {
		t.Errorf("the file of another: %q, %v", got, err)
	}
	if files, err := os.ReadDir(filepath.Join(dir, "epochs~", "coder")); err != nil || len(files) != 1 || last.Held(dir, "coder", task1).N != 1 {
		t.Errorf("%d files, %v", len(files), err)
	}
}
