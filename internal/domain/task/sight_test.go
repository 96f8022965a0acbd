package task

import (
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

func TestAnOwnerOfTheParentIsNoFormerOwnerOfTheChild(t *testing.T) {
	child := Task{
		ID: "task_c", State: event.Executing, Owner: "worker", Requester: "agent/boss", Before: 1,
		Path:     []event.Visit{{Agent: "ann"}, {Agent: "worker"}},
		Involved: []string{"worker", "ann"}, // ann was offered the child and refused
	}
	if parts := PartsOf(child, "agent/ann"); !slices.Equal(parts, []Part{Involved}) {
		t.Errorf("ann has the parts %q", parts)
	}
	if s := SightFor(child, "agent/ann"); s != Involved.Sight() {
		t.Errorf("ann reads %+v", s)
	}
}

func TestAnOwnerFromBeforeAReplayIsAFormerOwner(t *testing.T) {
	replayed := Task{ID: "task_r", State: event.Executing, Owner: "new", Former: []string{"old"}, Involved: []string{"old", "new"}}
	if parts := PartsOf(replayed, "agent/old"); !slices.Equal(parts, []Part{Former}) {
		t.Errorf("old has the parts %q", parts)
	}
}

func TestEveryPartHasASight(t *testing.T) {
	for _, p := range Parts() {
		if s := p.Sight(); s.Past == "" || s.Work && !s.Intent {
			t.Errorf("%s: %+v", p, s)
		}
	}
}
