package task_test

import (
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

func TestAnOwnerOfTheParentIsNoFormerOwnerOfTheChild(t *testing.T) {
	child := task.Task{
		ID: "task_c", State: event.Executing, Owner: "worker", Requester: "agent/boss", Before: 1,
		Path:     []event.Visit{{Agent: "ann"}, {Agent: "worker"}},
		Involved: []string{"worker", "ann"}, // ann was offered the child and refused
	}
	if relations := task.RelationsOf(&child, "agent/ann"); !slices.Equal(relations, []task.Relation{task.Involved}) {
		t.Errorf("ann has the relations %q", relations)
	}
	if s := task.VisibilityFor(&child, "agent/ann"); s != task.Involved.Visibility() {
		t.Errorf("ann reads %+v", s)
	}
}

func TestAnOwnerFromBeforeAReplayIsAFormerOwner(t *testing.T) {
	replayed := task.Task{ID: "task_r", State: event.Executing, Owner: "new", Path: []event.Visit{{Agent: "old"}, {Agent: "new"}}, Replayed: 1, Involved: []string{"old", "new"}}
	if relations := task.RelationsOf(&replayed, "agent/old"); !slices.Equal(relations, []task.Relation{task.Former}) {
		t.Errorf("old has the relations %q", relations)
	}
}

func TestEveryPartHasASight(t *testing.T) {
	for _, p := range task.Relations() {
		if s := p.Visibility(); s.Past == "" || s.Work && !s.Intent {
			t.Errorf("%s: %+v", p, s)
		}
	}
}
