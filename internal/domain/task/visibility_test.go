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
	if relations := RelationsOf(child, "agent/ann"); !slices.Equal(relations, []Relation{Involved}) {
		t.Errorf("ann has the relations %q", relations)
	}
	if s := VisibilityFor(child, "agent/ann"); s != Involved.Visibility() {
		t.Errorf("ann reads %+v", s)
	}
}

func TestAnOwnerFromBeforeAReplayIsAFormerOwner(t *testing.T) {
	replayed := Task{ID: "task_r", State: event.Executing, Owner: "new", Path: []event.Visit{{Agent: "old"}, {Agent: "new"}}, Replayed: 1, Involved: []string{"old", "new"}}
	if relations := RelationsOf(replayed, "agent/old"); !slices.Equal(relations, []Relation{Former}) {
		t.Errorf("old has the relations %q", relations)
	}
}

func TestEveryPartHasASight(t *testing.T) {
	for _, p := range Relations() {
		if s := p.Visibility(); s.Past == "" || s.Work && !s.Intent {
			t.Errorf("%s: %+v", p, s)
		}
	}
}
