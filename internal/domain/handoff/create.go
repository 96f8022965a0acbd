package handoff

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/conversation/conversationid"
	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Create makes a task. It is Pending until somebody starts it or a handoff of it is accepted.
type Create struct {
	By           identity.Principal
	Task         string
	Intent       string
	Priority     event.Priority
	Route        []string
	Deadline     time.Time
	Timeouts     event.Timeouts
	Limits       event.Limits
	Budget       event.Budget
	Constraints  []event.Constraint
	Permissions  []string
	Dependencies []event.Dependency // with their states as read just before
	Expected     event.Expected
	Conversation string
	Tags         []string
	Subject      string
	Claimed      json.RawMessage

	// What a child inherits; zero otherwise.
	Parent event.Parent
	Used   event.Used
	Path   []event.Visit
	Marks  int
	For    string // the requester, if the server creates the task
}

func (c Create) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if t.Exists() {
		return nil, refusal.New(refusal.Conflict, "use another idempotency key", "task %s exists", t.ID)
	}
	if err := c.check(now); err != nil {
		return nil, err
	}
	e := event.Created{
		Task: c.Task, Intent: c.Intent, Requester: c.By.String(), Priority: cmp.Or(c.Priority, event.Normal), Route: c.Route,
		At: now, Deadline: c.Deadline, Timeouts: c.Timeouts.WithDefaults(), Limits: c.Limits.WithDefaults(), Used: c.Used,
		Path: c.Path, Marks: c.Marks, Budget: c.Budget, Constraints: slices.Clone(c.Constraints), Permissions: c.Permissions,
		Dependencies: slices.Clone(c.Dependencies), Expected: c.Expected.Compact(), Parent: c.Parent, Conversation: c.Conversation,
		Tags: slices.Clone(c.Tags), Subject: c.Subject, Claimed: c.Claimed, Notices: true,
	}
	if c.By.IsSystem() && c.For != "" {
		e.Requester = c.For
	}
	if !e.Deadline.IsZero() {
		e.Deadline = e.Deadline.Round(0).UTC()
	}
	for i := range e.Constraints {
		if e.Constraints[i].Origin == "" || !c.By.IsSystem() {
			e.Constraints[i] = e.Constraints[i].SetBy(c.By.String(), false)
		}
	}
	for i, d := range e.Dependencies {
		if !d.State.Final() {
			e.Dependencies[i].State = event.Pending
		}
	}
	events := []event.Event{e}
	for _, d := range c.Dependencies {
		if d.State.Final() && d.State != event.Completed {
			events = append(events, park(event.ParkDependency, "task "+d.Task+" is "+string(d.State), now))
			break
		}
	}
	return events, nil
}

func (c Create) check(now time.Time) error {
	if err := event.CheckTaskID(c.Task); err != nil {
		return err
	}
	if strings.TrimSpace(c.Intent) == "" {
		return refusal.New(refusal.Invalid, "say what is wanted, in the requester's own words", "a task needs an intent").With("field", "intent")
	}
	if err := refusal.In("deadline", event.CheckDeadline(c.Deadline, now)); err != nil && !c.By.IsSystem() { // a child is created even if its deadline has passed
		return err
	}
	constraints, permissions, tags := event.CheckNewConstraints, task.CheckNewPermissions, event.CheckNewTags
	if c.By.IsSystem() { // a child has those of its parent, as they are
		constraints, permissions, tags = event.CheckConstraints, event.CheckLabels, event.CheckTags
	}
	return firstError(
		refusal.In("dependencies", event.CheckDependencies(c.Task, c.Dependencies)),
		refusal.In("intent", event.CheckText("the intent", c.Intent, event.MaxIntent)),
		event.CheckJSON("the claimed history", c.Claimed, event.MaxData),
		refusal.In("route", event.CheckRoute(c.Route)),
		refusal.In("permissions", permissions("a permission", c.Permissions, event.MaxPermissions)),
		refusal.In("timeouts", c.Timeouts.Check()), refusal.In("limits", c.Limits.Check()), refusal.In("budget", c.Budget.Check("the budget")),
		refusal.In("constraints", constraints(c.Constraints)), refusal.In("expected_output", c.Expected.Check()), refusal.In("conversation", conversationid.CheckOptional(c.Conversation)), refusal.In("tags", tags(c.Tags)), refusal.In("subject", erasure.CheckName(c.Subject)),
	)
}
