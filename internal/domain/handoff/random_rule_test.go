package handoff

import (
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// tighter is a constraint that often tightens one of the task, or the base of one.
func (d dice) tighter(t task.Task) event.Constraint {
	k := d.constraint()
	i := t.FindConstraint(k.ID)
	if i < 0 || d.chance(30) {
		return k
	}
	old := pick(d, t.Constraints[i], task.RuleAt(&t, i).Base)
	if d.chance(50) && old.Max != nil {
		less := *old.Max / 2
		old.Max = &less
	}
	if d.chance(50) && len(old.Allow) > 0 {
		old.Allow = old.Allow[d.IntN(2):]
	}
	old.Hard = old.Hard || d.chance(20)
	if by := d.anybody(); by.IsSystem() || d.chance(90) {
		old.Origin = ""
	}
	return old
}

// lift lifts a constraint, or often what somebody has tightened of one.
func (d dice) lift(t task.Task) Command {
	switch {
	case d.chance(20):
		return d.free(t)
	case len(t.Rules) == 0 || d.chance(30):
		return Lift{By: d.anybody(), ID: pick(d, "c1", "c2"), TightenedBy: pick(d, "", "", d.anybody().String()), Why: "enough"}
	}
	r := pick(d, t.Rules...)
	return Lift{By: d.anybody(), ID: r.Base.ID, TightenedBy: pick(d, r.Layers...).Origin, Why: "enough"}
}

// free follows a lift in the parent task, as it may have been.
func (d dice) free(t task.Task) Command {
	k := d.constraint()
	if i := t.FindConstraint(k.ID); i >= 0 {
		k = task.RuleAt(&t, i).Base
	}
	parent := event.Lifted{ID: k.ID, Why: "enough", By: "operator/ann", Constraint: k}
	if d.chance(60) {
		parent.TightenedBy, parent.After = "agent/ben", k
		parent.After.Max, parent.After.Inherited = nil, false
	}
	return Lift{By: system, Parent: parent}
}
