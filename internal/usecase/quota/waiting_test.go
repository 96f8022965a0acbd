package quota_test

import (
	"context"
	"errors"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
)

// sentCounts is the number of items of each sender.
type sentCounts struct {
	view.TaskQueries
	open  map[string]int
	err   error
	asked int
}

func (c *sentCounts) SentCount(_ context.Context, _, agent, sender string, _ int) (int, error) {
	c.asked++
	return c.open[sender+" to "+agent], c.err
}

func TestItemsAreCountedOnceAndAgainAtTheBound(t *testing.T) {
	c := &sentCounts{open: map[string]int{"junk to bob": 2}}
	q, err := quota.NewWaiting(5, view.Store{TaskQueries: c})
	if err != nil {
		t.Fatal(err)
	}
	admit := func(sender string, want refusal.Code) {
		t.Helper()
		if err := q.Admit(t.Context(), "default", sender, "bob"); refusal.CodeOf(err) != want {
			t.Fatalf("%s: %v, want %q", sender, err, want)
		}
	}
	for range 3 {
		admit("agent/junk", "")
	}
	if c.asked != 1 {
		t.Errorf("counted %d times below the bound", c.asked)
	}
	c.open["junk to bob"] = 5
	admit("agent/junk", refusal.Overloaded)
	admit("agent/honest", "")
	c.open["junk to bob"] = 4 // one was answered
	admit("agent/junk", "")
	c.open["junk to bob"] = 5
	admit("agent/junk", refusal.Overloaded)
	c.err = errors.New("no views")
	admit("agent/junk", "")
}
