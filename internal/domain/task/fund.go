package task

import (
	"fmt"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Allot divides the tasks that may still be created below this one among the children; each child counts itself. A parent
// that may resume before all of them have ended keeps one share of the rest, and one that does not wait keeps fifteen. bounded
// says that it does not wait for ever. It refuses (limit) more children than tasks may come of t.
func (t Task) Allot(children []event.NewChild, mode event.FanInMode, bounded bool) error {
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
func (t Task) Fund(children []event.NewChild) ([]event.NewChild, error) {
	out, left := slices.Clone(children), t.Left()
	var asked []event.Budget
	for _, c := range out {
		asked = append(asked, c.Budget)
	}
	parts, ok := t.Budget.Split(left, asked)
	if !ok {
		return nil, refusal.New(refusal.Budget, fmt.Sprintf("at most %d tokens and %d micros of cost are left", left.Tokens, left.Cost),
			"the children need more than task %s has", t.ID)
	}
	for i := range out {
		out[i].Budget = parts[i]
	}
	return out, nil
}
