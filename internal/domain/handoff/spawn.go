package handoff

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Spawn makes child tasks: a delegation (one child, whose result the sender waits for) or a fan-out (one child per
// receiver). The parent records them here; the server creates them from this record, once.
type Spawn struct {
	By          identity.Principal
	Epoch       uint64
	Kind        event.Kind // Delegation, or Broadcast for a fan-out
	Children    []event.NewChild
	Passed      []event.Passed // already passed over by routing
	FanIn       event.FanIn
	Timeouts    event.Timeouts
	Retries     *int
	Reason      event.Reason
	Detail      string
	Permissions []string
	Expected    event.Expected
	NewWork     bool
	Pack        event.Pack
	Channel     string // that it is published to
	Decision    *event.Decision
	Envelope    event.Sealed
}

func (c Spawn) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := authority.RequireSource(t, c.By, c.Epoch); err != nil {
		return nil, err
	}
	like := Send{
		Kind: event.Broadcast, Reason: c.Reason, Detail: c.Detail, Timeouts: c.Timeouts, Retries: c.Retries,
		Permissions: c.Permissions, Pack: c.Pack, Channel: c.Channel, Envelope: c.Envelope,
	}
	if err := firstError(c.check(t), like.check(t)); err != nil {
		return nil, err
	}
	like.Kind = c.Kind
	if limit := task.LimitReached(&t, c.Reason); limit != "" {
		return like.stopped(event.ParkLimit, limit, now), nil
	}
	children, passed, limit := screen(t, c.Children, func(k event.NewChild) string { return k.To }, c.Passed, c.NewWork)
	switch n := len(children); {
	case n == 0 && limit != "":
		return like.stopped(event.ParkLimit, limit, now), nil
	case n == 0:
		return nil, noReceiver(passed, "you still hold the task; try another receiver, or later")
	case c.FanIn.Mode == event.FanInQuorum && c.FanIn.Quorum > n:
		return nil, refusal.New(refusal.Unavailable, "name other receivers, or a smaller quorum", "only %d of %d receivers can take a part: %s",
			n, len(c.Children), event.WhyPassed(passed)).With("passed_over", passed)
	}
	children, err := t.Fund(children)
	if err == nil {
		err = t.Allot(children, c.FanIn.Mode, c.Timeouts.Over(t.Times).Wait > 0)
	}
	if err != nil {
		return nil, err
	}
	d := decision{t: t}
	if c.Envelope.Digest != "" {
		d.do(c.Envelope)
	}
	e := event.Spawned{
		Group: t.Used.Handoffs + 1, Kind: c.Kind, From: t.Source(), Reason: c.Reason, Detail: c.Detail, Children: children,
		Passed: passed, FanIn: c.FanIn, NewWork: c.NewWork, Timeouts: c.Timeouts.Over(t.Times), Retries: retries(c.Retries),
		Permissions: orElse(c.Permissions, t.Permissions), Expected: c.Expected.Compact(), Envelope: d.t.Envelope, Pack: c.Pack, Channel: c.Channel, Decision: c.Decision,
		Before: t.Standing(), At: now,
	}
	if wait := e.Timeouts.Wait; wait > 0 && c.FanIn.Mode != event.FanInNone {
		e.JoinBy = wait.After(now)
	}
	d.do(e)
	return d.events, nil
}

func (c Spawn) check(t task.Task) error {
	n := len(c.Children)
	switch {
	case c.Kind != event.Delegation && c.Kind != event.Broadcast:
		return refusal.New(refusal.Invalid, "use delegation, or broadcast for a fan-out", "a %s handoff has no children", c.Kind)
	case n == 0 || (c.Kind == event.Delegation && n != 1):
		return refusal.New(refusal.Invalid, "a delegation has one receiver, a fan-out one or more", "%d receivers do not fit a %s", n, c.Kind)
	case len(t.Children)+n > event.MaxChildren:
		return refusal.New(refusal.Limit, fmt.Sprintf("a task may have %d children over its life", event.MaxChildren), "%d more children are too many", n)
	case c.FanIn.Mode == "":
		return refusal.New(refusal.Invalid, "use all, quorum, first or none", "a fan-out needs a fan-in mode")
	case c.FanIn.Mode == event.FanInQuorum && (c.FanIn.Quorum < 1 || c.FanIn.Quorum > n):
		return refusal.New(refusal.Invalid, fmt.Sprintf("use 1 to %d", n), "a quorum of %d is out of range", c.FanIn.Quorum).With("field", "fan_in.quorum")
	}
	seen := map[string]bool{}
	for _, child := range c.Children {
		if err := firstError(event.CheckTaskID(child.Task), refusal.In("task_description", event.CheckText("the intent", child.Intent, event.MaxIntent)),
			event.CheckOptional("an agent", child.To), refusal.In("budget", child.Budget.Check("a child's budget"))); err != nil {
			return err
		}
		switch {
		case seen[child.Task] || t.FindChild(child.Task) >= 0 || child.Task == t.ID:
			return refusal.New(refusal.Conflict, "use another idempotency key", "child task %s exists", child.Task)
		case strings.TrimSpace(child.Intent) == "":
			return refusal.New(refusal.Invalid, "say what the child must do", "a child needs an intent").With("field", "content.task_description")
		}
		seen[child.Task] = true
	}
	return refusal.In("expected_output", c.Expected.Check())
}

// ChildOf is the command that creates the n-th child of a spawn; t is the parent right after the spawn. The child inherits
// deadline, limits and their use, path, constraints and permissions.
func ChildOf(t task.Task, e event.Spawned, n int) Create {
	c := e.Children[n]
	requester := t.Requester
	if t.Owner != "" {
		requester = "agent/" + t.Owner
	}
	constraints := slices.Clone(t.Constraints)
	for i, k := range constraints {
		constraints[i].Added, constraints[i].Inherited = t.Added(k), true
	}
	return Create{
		By: identity.Principal{Role: identity.System, Name: "courier"}, For: requester, Task: c.Task, Intent: c.Intent, Priority: t.Priority,
		Deadline: t.Deadline, Timeouts: e.Timeouts, Limits: t.Limits,
		Used: event.Used{Hops: t.Used.Hops, Before: t.Used.Before, Escalations: t.Used.Escalations, Attempts: t.Used.Attempts, Tasks: t.Limits.Tasks - c.Tasks}, Path: task.CountedSoFar(&t), Marks: t.Marks, Budget: c.Budget,
		Constraints: constraints, Permissions: orElse(e.Permissions, t.Permissions), Expected: e.Expected,
		Parent: event.Parent{Task: t.ID, Index: c.Index, Await: e.FanIn.Mode != event.FanInNone, Requester: task.Root(&t)}, Conversation: t.Conversation, Tags: t.Tags, Subject: t.Subject,
	}
}
