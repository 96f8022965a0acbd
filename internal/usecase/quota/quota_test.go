package quota_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
)

// taskCounts is the number of open tasks of each principal.
type taskCounts struct {
	view.TaskQueries
	open  map[string]int // by workspace/principal
	err   error
	asked int
}

func (b *taskCounts) OpenTaskCount(_ context.Context, workspace, principal string) (int, error) {
	b.asked++
	return b.open[workspace+"/"+principal], b.err
}

func agent(workspace, name string) caller.Caller {
	return caller.Caller{Principal: identity.Principal{Workspace: workspace, Role: identity.Agent, Name: name}}
}

// opened is a quota of two, with a clock that the test moves.
func opened(t *testing.T) (*quota.Quota, *taskCounts, *time.Time) {
	t.Helper()
	b, now := &taskCounts{open: map[string]int{}}, time.Unix(1_700_000_000, 0)
	q, err := quota.New(2, b, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	return q, b, &now
}

func TestNobodyMakesMoreThanItMayAlsoBetweenTwoCounts(t *testing.T) {
	q, b, now := opened(t)
	ann := agent("default", "ann")
	for n := range 3 {
		if err := q.Check(t.Context(), ann); (refusal.CodeOf(err) == refusal.Limit) != (n == 2) {
			t.Errorf("task %d: %v", n+1, err)
		}
		if n < 2 {
			q.Made(ann)
		}
	}
	if b.asked != 1 {
		t.Errorf("counted %d times within a second", b.asked)
	}
	*now = now.Add(time.Second)
	b.open["default/agent/ann"] = 1 // one has ended
	if err := q.Check(t.Context(), ann); err != nil || b.asked != 2 {
		t.Errorf("%v, counted %d times", err, b.asked)
	}
}

func TestEachHasItsOwn(t *testing.T) {
	q, b, _ := opened(t)
	b.open["default/agent/ann"] = 2
	for who, code := range map[string]refusal.Code{"default/ann": refusal.Limit, "default/bob": "", "other/ann": ""} {
		c := agent(who[:len(who)-4], who[len(who)-3:])
		if err := q.Check(t.Context(), c); refusal.CodeOf(err) != code {
			t.Errorf("%s: %v", who, err)
		}
	}
	if err := q.Check(t.Context(), caller.System("default", "courier")); err != nil {
		t.Errorf("the server itself: %v", err)
	}
}

func TestANumberThatCannotBeReadRefusesNothingAndForgetsNothing(t *testing.T) {
	q, b, now := opened(t)
	ann := agent("default", "ann")
	b.err = errors.New("no views")
	b.open["default/agent/ann"] = 5
	if err := q.Check(t.Context(), ann); err != nil {
		t.Error(err)
	}
	*now = now.Add(time.Minute)
	b.err = nil
	if err := q.Check(t.Context(), ann); refusal.CodeOf(err) != refusal.Limit {
		t.Error(err)
	}
	*now = now.Add(-time.Hour) // a clock that goes back
	b.open["default/agent/ann"] = 0
	if err := q.Check(t.Context(), ann); err != nil {
		t.Error(err)
	}
}
