package task

import (
	"fmt"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Allot divides the tasks that may still be created below this one among the children; each child counts itself. A parent
// that may resume before all of them have ended keeps one share of the rest, and one that does not wait keeps fifteen. bounded
// says that it does not wait for ever. It refuses (limit) more children than tasks may come of t.
func (t *Task) Allot(children []event.NewChild, mode event.FanInMode, bounded bool) error {
	n := len(children)
	rest := t.Limits.Tasks - t.Used.Tasks - n
	if rest < 0 {
		return refusal.New(refusal.Limit, "create fewer children, or wait until others have ended: tasks that they did not use can be created again",
			"%d tasks may still come of task %s, and these are %d; its limit of tasks is %d", rest+n, t.ID, n, t.Limits.Tasks).With("left", rest+n)
	}
	parts := n
	switch {
	case mode == event.FanInNone:
		parts += 15
	case mode != event.FanInAll || bounded:
		parts++
	}
	for i := range children {
		children[i].Tasks = rest / parts
	}
	return nil
}

// Fund gives the children their budgets, of what is left of the task's. It refuses (budget) more than that.
func (t *Task) Fund(children []event.NewChild) ([]event.NewChild, error) {
	out, left := slices.Clone(children), t.Left()
	var asked []event.Budget
	for _, c := range out {
		asked = append(asked, c.Budget)
	}
	parts, ok := t.Budget.Split(left, asked)
	if !ok {
		return nil, refusal.New(refusal.Budget, fmt.Sprintf("at most %d tokens and %d micros of cost are left; ", left.Tokens, left.Cost)+HowToRaise(t, ""),
			"the children need more than task %s has", t.ID)
	}
	for i := range out {
		out[i].Budget = parts[i]
	}
	return out, nil
}

// Raise is the budget of the task with the amounts of to that are not zero, or what the task then reserves for a child; zero if
// nothing changes. It refuses amounts that are smaller, or not limited (invalid), a task in the dead letters (conflict), and more for a
// child than is left of the task's own (budget).
func (t *Task) Raise(child string, to event.Budget) (event.Budget, error) {
	id, now, i := t.ID, t.Budget, t.FindChild(child)
	switch {
	case child != "" && (i < 0 || t.Children[i].State.Final()):
		return event.Budget{}, nil // nothing to reserve: the child itself refuses
	case child != "":
		id, now = child, t.Children[i].Budget
	case t.State == event.Parked:
		return event.Budget{}, refusal.New(refusal.Conflict, "have an operator "+HowToReplay(t),
			"task %s is in the dead letters", t.ID)
	}
	if to == (event.Budget{}) {
		return to, refusal.New(refusal.Invalid, "give the new number of tokens, the new cost, or both", "no amount is given")
	}
	for _, a := range []struct {
		what    string
		field   string
		now, to int64
	}{{"tokens", "budget.tokens", now.Tokens, to.Tokens}, {"micros of cost", "budget.cost_micros", now.Cost, to.Cost}} {
		switch {
		case a.to > 0 && a.now == 0:
			return to, refusal.New(refusal.Invalid, "nothing to do: the task may spend any number", "the %s of task %s are not limited", a.what, id).With("field", a.field)
		case a.to > 0 && a.to < a.now && child == "":
			return to, refusal.New(refusal.Invalid, fmt.Sprintf("a budget can only be raised: use more than %d", a.now), "task %s has %d %s already", id, a.now, a.what).With("field", a.field)
		}
	}
	next := event.Budget{Tokens: max(now.Tokens, to.Tokens), Cost: max(now.Cost, to.Cost)}
	if next == now {
		return event.Budget{}, nil
	}
	if more, left := next.Minus(now), t.Left(); child != "" && (t.Budget.Tokens > 0 && more.Tokens > max(left.Tokens, 0) || t.Budget.Cost > 0 && more.Cost > max(left.Cost, 0)) {
		return next, refusal.New(refusal.Budget, "raise it by less, or "+HowToRaise(t, ""), "task %s has %d tokens and %d micros of cost left for task %s, which needs %d and %d more",
			t.ID, left.Tokens, left.Cost, child, more.Tokens, more.Cost)
	}
	return next, nil
}

// HowToRaise says in a hint who can raise the budget of the task, or of a child of it: as an example, to twice of what it is.
func HowToRaise(t *Task, child string) string {
	who := t.Requester
	switch i := t.FindChild(child); {
	case i >= 0:
		if t.Owner != "" {
			who = "the owner of task " + t.ID
		}
		t = &Task{ID: child, Budget: t.Children[i].Budget}
	case t.Parent.Task != "":
		who = "the owner of task " + t.Parent.Task
	}
	return "have " + help.OrOperator(event.Bare(who)) + " " + help.To("raise the budget", "task budget", t.ID, t.doubled()...)
}

// HowToReplay is the part of a hint that has an operator replay the task with a larger budget.
func HowToReplay(t *Task) string {
	return help.To("replay it with a larger budget", "dead replay", t.ID, t.doubled()...)
}

// doubled are the fields of a call that doubles the budget, or what is spent and reserved of it if that is more.
func (t *Task) doubled() (fields []string) {
	used := t.Spent.Plus(t.Reserved)
	if n := t.Budget.Tokens; n > 0 {
		fields = append(fields, fmt.Sprintf("budget.tokens=%d", 2*max(n, used.Tokens)))
	}
	if n := t.Budget.Cost; n > 0 {
		fields = append(fields, fmt.Sprintf("budget.cost_micros=%d", 2*max(n, used.Cost)))
	}
	return fields
}
