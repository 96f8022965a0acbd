package task_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

const (
	requester = "agent/ada"
	ann       = "operator/ann"
)

var tighteners = []string{"agent/ben", "agent/cleo", requester, ann, "operator/bob"}

// limited draws the limits of a rule.
func limited(t *rapid.T) event.Constraint {
	k := event.Constraint{ID: "c", Kind: event.ConstraintBudget, Text: "spend little", Hard: rapid.Bool().Draw(t, "hard")}
	if rapid.Bool().Draw(t, "has a maximum") {
		most := float64(rapid.IntRange(0, 9).Draw(t, "max"))
		k.Max = &most
	}
	if rapid.Bool().Draw(t, "has a list") {
		k.Allow = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y", "z"}), 0, 3, rapid.ID).Draw(t, "allow")
	}
	return k
}

// drawn is a task with one rule of the requester, and what its setter asks for so far.
type drawn struct {
	task task.Task
	base event.Constraint
}

// changes makes a random change. Only a lift may loosen.
func (d *drawn) changes(t *rapid.T) {
	before := d.task.Constraints[0]
	by := rapid.SampledFrom(tighteners).Draw(t, "by")
	if rapid.IntRange(0, 3).Draw(t, "lifts") == 0 {
		e, err := task.Lift(&d.task, "c", rapid.SampledFrom(tighteners).Draw(t, "tightened by"), by)
		if err == nil {
			d.task = task.Fold(d.task, e)
		}
		return
	}
	k := limited(t)
	if rapid.Bool().Draw(t, "from what binds") { // as a caller does that has read it
		k = before
		if rapid.Bool().Draw(t, "less") && k.Max != nil {
			less := *k.Max / 2
			k.Max = &less
		}
		if rapid.Bool().Draw(t, "fewer") && len(k.Allow) > 0 {
			k.Allow = k.Allow[1:]
		}
	}
	e, err := task.Tighten(&d.task, 0, k, by)
	if err != nil || e.Constraint.ID == "" {
		return
	}
	d.task = task.Fold(d.task, e)
	if now := d.task.Constraints[0]; !now.Tightens(before) {
		t.Fatalf("%s made %+v of %+v", by, now, before)
	}
	if by == requester {
		d.base = e.Own
	}
}

// TestWhatIsLeftAfterLiftingAllLayersIsTheRuleOfItsSetter tightens and lifts a rule at random, and then lifts all that others tightened.
func TestWhatIsLeftAfterLiftingAllLayersIsTheRuleOfItsSetter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := limited(t).SetBy(requester, false)
		d := drawn{task: task.Task{ID: "task", State: event.Executing, Requester: requester, Constraints: []event.Constraint{k}}, base: k}
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			d.changes(t)
		}
		if now := d.task.Constraints[0]; !now.Tightens(d.base) {
			t.Fatalf("%+v is less than %s asks for: %+v", now, requester, d.base)
		}
		for _, l := range task.RuleAt(&d.task, 0).Layers {
			by := requester // it lifts what agents added
			if strings.HasPrefix(l.Origin, "operator/") || strings.HasPrefix(l.Origin, "admin/") {
				if _, err := task.Lift(&d.task, "c", l.Origin, requester); err == nil {
					t.Fatalf("the requester lifts what %s tightened", l.Origin)
				}
				by = ann
			}
			if _, err := task.Lift(&d.task, "c", l.Origin, "agent/dan"); err == nil {
				t.Fatalf("an agent lifts what %s tightened", l.Origin)
			}
			e, err := task.Lift(&d.task, "c", l.Origin, by)
			if err != nil {
				t.Fatal(err)
			}
			d.task = task.Fold(d.task, e)
		}
		now := d.task.Constraints[0]
		if !now.Equal(d.base) || now.Origin != requester || now.HardBy+now.MaxBy+now.AllowBy+now.TextBy != "" || len(d.task.Rules) > 0 {
			t.Fatalf("left is %+v of %+v (%+v)", now, d.base, d.task.Rules)
		}
	})
}

// TestAChildIsAsFreeAsItsParent binds a child to the rule of its parent while both are tightened and lifted at random.
func TestAChildIsAsFreeAsItsParent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := limited(t).SetBy(requester, false)
		parent := drawn{task: task.Task{ID: "parent", State: event.Executing, Requester: requester, Constraints: []event.Constraint{k}}, base: k}
		k.Inherited = true
		child := task.Task{
			ID: "child", State: event.Executing, Requester: "agent/ben", Constraints: []event.Constraint{k},
			Parent: event.Parent{Task: "parent", Requester: requester},
		}
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			if rapid.Bool().Draw(t, "of the child") {
				by := rapid.SampledFrom([]string{"agent/ben", "agent/dan"}).Draw(t, "by")
				e, err := task.Tighten(&child, 0, limited(t), by)
				if rapid.IntRange(0, 3).Draw(t, "lifts") == 0 {
					var lifted event.Lifted
					if lifted, err = task.Lift(&child, "c", by, by); err == nil {
						child = task.Fold(child, lifted)
					}
				} else if err == nil && e.Constraint.ID != "" {
					child = task.Fold(child, e)
				}
			} else {
				before := parent.task
				parent.changes(t)
				child = followed(child, before, parent.task)
			}
			if c := child.Constraints[0]; len(child.Constraints) != 1 || !c.Tightens(parent.task.Constraints[0]) {
				t.Fatalf("the child has %+v, its parent %+v", child.Constraints, parent.task.Constraints)
			}
		}
		for _, l := range task.RuleAt(&child, 0).Layers {
			e, err := task.Lift(&child, "c", l.Origin, ann)
			if err != nil {
				t.Fatal(err)
			}
			child = task.Fold(child, e)
		}
		if c, p := child.Constraints[0], parent.task.Constraints[0]; !c.Equal(p) || c.Origin != p.Origin || c.MaxBy != p.MaxBy || c.AllowBy != p.AllowBy {
			t.Fatalf("the child has %+v of its parent's %+v", c, p)
		}
	})
}

// followed is the child after a change of its parent, twice: the server may repeat it.
func followed(child, before, after task.Task) task.Task {
	was, is := before.Constraints[0], after.Constraints[0]
	for range 2 {
		if is.Tightens(was) {
			if e := task.Inherit(&child, is); e.Constraint.ID != "" {
				child = task.Fold(child, e)
			}
			continue
		}
		if e := task.Free(&child, 0, event.Lifted{ID: "c", By: ann, Constraint: was, TightenedBy: "agent/ben", After: is}); e.ID != "" {
			child = task.Fold(child, e)
		}
	}
	return child
}

// TestOlderRecordsTellTheLayersByTheSettersOfParts: events from before layers have only the constraint as it was after the change.
func TestOlderRecordsTellTheLayersByTheSettersOfParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := limited(t).SetBy(requester, false)
		now := task.Task{ID: "task", State: event.Executing, Requester: requester, Constraints: []event.Constraint{k}}
		old := now
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			by := rapid.SampledFrom([]string{"agent/ben", "agent/cleo", ann}).Draw(t, "by")
			next := now.Constraints[0]
			if next.Max != nil && rapid.Bool().Draw(t, "less") {
				less := *next.Max / 2
				next.Max = &less
			}
			if len(next.Allow) > 0 && rapid.Bool().Draw(t, "fewer") {
				next.Allow = next.Allow[1:]
			}
			e, err := task.Tighten(&now, 0, next, by)
			if err != nil || e.Constraint.ID == "" {
				continue
			}
			now, old = task.Fold(now, e), task.Fold(old, event.Constrained{Constraint: e.Constraint})
		}
		for _, by := range slices.Concat(tighteners, []string{"agent/dan"}) {
			a, errA := task.Lift(&now, "c", by, ann)
			b, errB := task.Lift(&old, "c", by, ann)
			if (errA == nil) != (errB == nil) || !a.After.Equal(b.After) || a.After.Origin != b.After.Origin {
				t.Fatalf("%s: %+v (%v), of older records %+v (%v)", by, a.After, errA, b.After, errB)
			}
		}
	})
}

func TestAnAgentIsToldWhoElseCanLiftWhatAnotherHasAdded(t *testing.T) {
	now := task.Task{ID: "task_1", State: event.Executing, Requester: "agent/amy", Owner: "dan", Constraints: []event.Constraint{
		{ID: "c", Kind: event.ConstraintProhibition, Text: "Never use red.", Hard: true, Origin: "agent/cat", Added: true},
		{ID: "d", Kind: event.ConstraintProhibition, Text: "Never use blue.", Hard: true, Origin: "agent/amy"},
	}}
	for id, want := range map[string]string{"c": "ask cat, amy or an operator", "d": "ask amy or an operator"} {
		_, err := task.Lift(&now, id, "", "agent/dan")
		if no, is := refusal.As(err); !is || no.Hint != want {
			t.Errorf("%s: %v", id, err)
		}
	}
}
