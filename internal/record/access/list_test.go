package access_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/access"
)

// lists returns the recorded lists of anna.
func (d *desk) lists() (all []access.ContentRead) {
	d.Helper()
	for _, e := range d.entries("default/access/agent:anna") {
		var ev access.ContentRead
		if err := json.Unmarshal(e.Events[0].Data, &ev); err != nil {
			d.Fatal(err)
		}
		all = append(all, ev)
	}
	return all
}

func TestTheSameListIsRecordedOnceAMinute(t *testing.T) {
	d := open(t)
	read := func(items ...string) {
		t.Helper()
		if err := d.ReadList(t.Context(), "default", anna, "tasks", items); err != nil {
			t.Fatal(err)
		}
	}
	for step, want := range []int{1, 1, 2, 2, 3} {
		switch step {
		case 0, 1:
			read("task_1", "task_2")
		case 2, 3: // another list
			read("task_1")
		case 4: // the first one, a minute later
			d.now = d.now.Add(time.Minute)
			read("task_1", "task_2")
		}
		if got := len(d.lists()); got != want {
			t.Errorf("after step %d there are %d entries, not %d", step, got, want)
		}
	}
	other := anna
	other.Token = "tk2"
	if err := d.ReadList(t.Context(), "default", other, "tasks", []string{"task_1", "task_2"}); err != nil || len(d.lists()) != 4 {
		t.Errorf("with another token there are %d entries, %v", len(d.lists()), err)
	}
	many := make([]string, 2*access.MaxListed)
	for i := range many {
		many[i] = fmt.Sprint("task_", i)
	}
	read(many...)
	if last := d.lists()[4]; len(last.Items) != access.MaxListed || last.Count != len(many) {
		t.Errorf("of a long list %d are named, of %d", len(last.Items), last.Count)
	}
	many[len(many)-1] = "task_x" // beyond what is named
	if read(many...); len(d.lists()) != 6 {
		t.Errorf("a list that differs at its end makes %d entries", len(d.lists()))
	}
}
