package tasks

import (
	"context"
	"errors"
	"time"

	"github.com/trapezehq/trapeze/internal/content/expect"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// CompleteInput finishes a task.
type CompleteInput struct {
	Task   string       `json:"task,omitempty" doc:"Id of the task."`
	Epoch  uint64       `json:"epoch" doc:"The task's epoch as you know it."`
	Result event.Result `json:"result,omitzero"`
	Usage  event.Budget `json:"usage,omitzero" doc:"What it cost since the last report."`
}

// Complete finishes a task with its result. A result that is not as the task expects is refused, with what is wrong, so
// that the owner can fix it and complete the task again.
func (ts *Tasks) Complete(ctx context.Context, c caller.Caller, in CompleteInput) (taskstore.Receipt, error) {
	k := resultCheck{cmd: handoff.Complete{Epoch: in.Epoch, Result: in.Result, Usage: in.Usage}, checker: ts.expect}
	complete := func() (taskstore.Receipt, error) {
		return ts.store.ChangeWith(ctx, c, "complete", in.Task, in, func(t task.Task, now time.Time) (events []event.Event, err error) {
			if k.cmd.By, err = desk.ActsAs(ctx, ts.agentStore, c, t); err != nil {
				return nil, err
			}
			return k.decide(t, now)
		})
	}
	r, err := complete()
	if !errors.Is(err, errUnchecked) {
		return r, err
	}
	leave, err := ts.work.EnterChange(ctx, c)
	if err != nil {
		return taskstore.Receipt{}, err
	}
	k.check()
	leave()
	return complete()
}

// errUnchecked ends a decision whose result has to be checked against a schema first: a decision does not wait for the processor,
// so that the recorded time is its own.
var errUnchecked = errors.New("the result has to be checked first")

// resultCheck checks a result against what its task expects, which never changes.
type resultCheck struct {
	cmd      handoff.Complete
	checker  *expect.Checker
	expected event.Expected
	done     bool
	review   []string // what only a judge can check
	err      error
}

func (k *resultCheck) check() {
	k.review, k.err = k.checker.Check(k.expected, k.cmd.Result)
	k.done = true
}

// decide finishes a task if the result is what was expected. What only a judge can check goes along with the
// result. A caller who may not finish the task is told that, and nothing about the result.
func (k *resultCheck) decide(t task.Task, now time.Time) ([]event.Event, error) {
	cmd := k.cmd
	cmd.Result.Review = nil
	events, err := handoff.Decide(t, cmd, now)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	if !k.done {
		if k.expected = t.Expected; len(k.expected.Schema) > 0 {
			return nil, errUnchecked
		}
		k.check()
	}
	if no, is := refusal.As(k.err); is {
		return nil, no.Hinting("fix it and [complete the task](task complete) again", t.ID)
	}
	if k.err != nil || len(k.review) == 0 {
		return events, k.err
	}
	cmd.Result.Review = k.review
	return handoff.Decide(t, cmd, now)
}
