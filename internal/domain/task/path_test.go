package task_test

import (
	"fmt"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

func TestAReplayKeepsThePathAndCountsFromThere(t *testing.T) {
	owned := task.Task{
		State: event.Parked, Owner: "bob", Epoch: 2, Before: 1, Parked: &task.ParkedFor{Cause: event.ParkLimit},
		Path: []event.Visit{{Agent: "boss"}, {Agent: "ann"}, {Agent: "bob", Marks: -1}},
	}
	now := task.Fold(owned, event.Replayed{})
	if n, _ := now.Visits("ann"); n != 0 || len(now.Path) != 3 || len(task.OwnPath(&now)) != 2 || len(task.Counted(&now)) != 1 || now.Parked != nil || now.WasParked == nil {
		t.Errorf("%+v", now)
	}
	now = task.Fold(now, event.Moved{From: "bob", To: "ann", Epoch: 3})
	if n, _ := now.Visits("ann"); n != 1 || len(now.Path) != 4 || now.Path[2].Marks < 0 {
		t.Errorf("handed on: %+v", now.Path)
	}
	for i := range 2 * task.MaxFormer {
		now = task.Fold(now, event.Moved{To: fmt.Sprint("a", i), Epoch: uint64(i)})
	}
	now.State = event.Parked
	now = task.Fold(now, event.Replayed{})
	if n := len(now.Path); n != task.MaxFormer+1 || now.Before != 0 || len(task.Counted(&now)) != 1 || now.Path[n-1].Agent != now.Owner {
		t.Errorf("%d visits, %d of parents, counted %v", len(now.Path), now.Before, task.Counted(&now))
	}
}
