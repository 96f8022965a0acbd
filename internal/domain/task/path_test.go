package task

import (
	"fmt"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

func TestAReplayKeepsThePathAndCountsFromThere(t *testing.T) {
	owned := Task{
		State: event.Parked, Owner: "bob", Epoch: 2, Before: 1, Parked: &ParkedFor{Cause: event.ParkLimit},
		Path: []event.Visit{{Agent: "boss"}, {Agent: "ann"}, {Agent: "bob", Marks: -1}},
	}
	now := Fold(owned, event.Replayed{})
	if n, _ := now.Visits("ann"); n != 0 || len(now.Path) != 3 || len(OwnPath(now)) != 2 || len(Counted(now)) != 1 || now.Parked != nil || now.WasParked == nil {
		t.Errorf("%+v", now)
	}
	now = Fold(now, event.Moved{From: "bob", To: "ann", Epoch: 3})
	if n, _ := now.Visits("ann"); n != 1 || len(now.Path) != 4 || now.Path[2].Marks < 0 {
		t.Errorf("handed on: %+v", now.Path)
	}
	for i := range 2 * MaxFormer {
		now = Fold(now, event.Moved{To: fmt.Sprint("a", i), Epoch: uint64(i)})
	}
	now.State = event.Parked
	now = Fold(now, event.Replayed{})
	if n := len(now.Path); n != MaxFormer+1 || now.Before != 0 || len(Counted(now)) != 1 || now.Path[n-1].Agent != now.Owner {
		t.Errorf("%d visits, %d of parents, counted %v", len(now.Path), now.Before, Counted(now))
	}
}
