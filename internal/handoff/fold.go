package handoff

import (
	"slices"
	"time"
)

// Fold is the task after an event. It never refuses, and never changes what t shares with other values.
func Fold(t Task, e Event) Task {
	before := t.State
	e.fold(&t)
	if t.State == before { // a fold that picks between two edges has already moved
		t.State = move(before, e.EventName(), before)
	}
	if h := t.Handoff; h != nil && !h.Stage.Final() {
		if to := moveStage(h.Stage, e.EventName(), h.Stage); to != h.Stage {
			t.touch().Stage = to
		}
	}
	return t
}

// FoldAll folds events in order.
func FoldAll(t Task, events []Event) Task {
	for _, e := range events {
		t = Fold(t, e)
	}
	return t
}

// touch gives the task its own copy of its handoff, to be changed.
func (t *Task) touch() *Handoff {
	h := *t.Handoff
	t.Handoff = &h
	return t.Handoff
}

func (e Created) fold(t *Task) {
	*t = Task{
		ID: e.Task, Intent: e.Intent, Requester: e.Requester, Priority: e.Priority, Route: e.Route,
		Created: e.At, Deadline: e.Deadline, Times: e.Timeouts, Limits: e.Limits, Used: e.Used, Path: e.Path, Marks: e.Marks,
		Budget: e.Budget, Constraints: e.Constraints, Permissions: e.Permissions, Dependencies: e.Dependencies,
		Expected: e.Expected, Parent: e.Parent,
	}
}

func (e Started) fold(t *Task) { t.own(e.Agent, 1, e.Lease) }

// own makes agent the owner.
func (t *Task) own(agent string, epoch uint64, lease time.Time) {
	t.Owner, t.Epoch, t.Lease = agent, epoch, lease
	t.Path = append(slices.Clip(t.letGo()), Visit{Agent: agent, Marks: -1})
}

// letGo is the path with the present visit ended.
func (t *Task) letGo() []Visit {
	path := slices.Clone(t.Path)
	if n := len(path); n > 0 && path[n-1].Marks < 0 {
		path[n-1].Marks = t.Marks
	}
	return path
}

func (e LeaseRenewed) fold(t *Task) { t.Lease = e.Lease }

func (e Progressed) fold(t *Task) {
	t.Progress, t.Lease = e.Note, e.Lease
	t.Spent = t.Spent.plus(e.Usage)
	t.Marks++
}

func (e Constrained) fold(t *Task) {
	t.Constraints = slices.Clone(t.Constraints)
	if i := t.constraint(e.Constraint.ID); i >= 0 {
		t.Constraints[i] = e.Constraint
		return
	}
	t.Constraints = append(t.Constraints, e.Constraint)
}

func (e Lifted) fold(t *Task) {
	t.Constraints = slices.DeleteFunc(slices.Clone(t.Constraints), func(c Constraint) bool { return c.ID == e.ID })
}

func (t Task) constraint(id string) int {
	return slices.IndexFunc(t.Constraints, func(c Constraint) bool { return c.ID == id })
}

func (e Finished) fold(t *Task) { t.end(e.At, &e.Result, e.Usage) }

func (e GaveUp) fold(t *Task) {
	r := e.Result
	if r.Text == "" {
		r.Text = e.Detail
	}
	t.end(e.At, &r, e.Usage)
}

func (e Called) fold(t *Task)    { t.end(e.At, nil, Budget{}); t.close("the task was cancelled", e.At) }
func (e Discarded) fold(t *Task) { t.end(e.At, nil, Budget{}) }

// end stops every clock. The owner stays on record.
func (t *Task) end(at time.Time, r *Result, usage Budget) {
	t.Spent = t.Spent.plus(usage)
	t.Ended, t.Lease, t.JoinBy, t.Asks = at, time.Time{}, time.Time{}, nil
	if r != nil {
		t.Result = r
	}
}

// close notes how the handoff in flight ended.
func (t *Task) close(why string, at time.Time) {
	if t.InFlight() == nil {
		return
	}
	h := t.touch()
	h.Why, h.Ended = why, at
	h.RetryAt, h.OfferEnds, h.AckEnds, h.ApprovalEnds, h.ConfirmEnds = time.Time{}, time.Time{}, time.Time{}, time.Time{}, time.Time{}
}

func (e Sealed) fold(t *Task) { t.Envelope = e.Digest }

func (e ParkedTask) fold(t *Task) {
	t.Parked = &ParkedFor{Cause: e.Cause, Detail: e.Detail, At: e.At}
	t.Lease, t.JoinBy = time.Time{}, time.Time{}
	t.close(e.Detail, e.At)
}

func (e Replayed) fold(t *Task) {
	t.State = Pending
	if t.Owner != "" {
		t.State, t.Lease = Executing, e.Lease
	}
	t.Deadline = e.Deadline
	t.Used = Used{Handoffs: t.Used.Handoffs, Base: t.Used.Handoffs}
	t.Path = nil
	if t.Owner != "" {
		t.Path = []Visit{{Agent: t.Owner, Marks: -1}}
	}
	if e.Route != nil {
		t.Route = e.Route
	}
}

func (e LeaseLost) fold(t *Task) { t.Lease = time.Time{} }

func (e DependencyEnded) fold(t *Task) {
	t.Dependencies = slices.Clone(t.Dependencies)
	for i := range t.Dependencies {
		if t.Dependencies[i].Task == e.Task {
			t.Dependencies[i].State = e.State
		}
	}
}

func (e TakeoverAsked) fold(t *Task) {
	t.AskCount = e.Ask
	t.Asks = append(slices.Clip(t.Asks), Ask{N: e.Ask, By: e.By, Detail: e.Detail})
}

func (e TakeoverRefused) fold(t *Task) { t.dropAsk(func(a Ask) bool { return a.N == e.Ask }) }

func (t *Task) dropAsk(which func(Ask) bool) {
	t.Asks = slices.DeleteFunc(slices.Clone(t.Asks), which)
}

func (e Shared) fold(t *Task) {
	t.Shares = append(slices.Clip(t.Shares), Share{N: e.Share, To: e.To, From: e.From, Envelope: e.Envelope})
}

func (e ShareRead) fold(t *Task) {
	t.Shares = slices.Clone(t.Shares)
	for i := range t.Shares {
		if t.Shares[i].N == e.Share {
			t.Shares[i].Read = true
		}
	}
}

func (e Annotated) fold(*Task) {}
