package tasks

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// CreateInput makes a task.
type CreateInput struct {
	Intent       string              `json:"intent" doc:"What is wanted, in the requester's own words; kept verbatim for ever." minLength:"1"`
	Content      envelopes.Content   `json:"content,omitzero" doc:"What the first envelope says beside the intent."`
	Priority     event.Priority      `json:"priority,omitempty" doc:"Orders every inbox; normal if left out."`
	Deadline     time.Time           `json:"deadline,omitzero" doc:"When the task goes to the dead letters if it has not ended."`
	Timeouts     event.Timeouts      `json:"timeouts,omitzero" doc:"The clocks of the task's handoffs and leases."`
	Limits       event.Limits        `json:"limits,omitzero" doc:"Hops, handoffs, visits, escalations, attempts, tasks."`
	Budget       event.Budget        `json:"budget,omitzero" doc:"What the task may spend, as its agents report it."`
	Constraints  []event.Constraint  `json:"constraints,omitempty" doc:"Rules for every holder of the task. They can be tightened, never loosened."`
	Permissions  []string            `json:"permissions,omitzero" doc:"What its holder may do; only narrows from hop to hop. Left out: not restricted here. Empty: nothing."`
	Dependencies []string            `json:"dependencies,omitempty" doc:"Ids of tasks that must complete before this one can start."`
	Expected     event.Expected      `json:"expected,omitzero" doc:"What the result must look like."`
	Conversation string              `json:"conversation,omitempty" doc:"The conversation that the task belongs to; what is said in it goes along, condensed. A name is your own conversation; one of another agent has an id, NAME~AGENT."`
	Tags         []string            `json:"tags,omitempty" doc:"Labels that the policy's rules may ask for; children have them too."`
	Subject      string              `json:"subject,omitempty" maxLength:"128" doc:"Whom or what the content is about, such as patient/4711: all that has the subject can be erased by it. Children have it too; it stays readable." example:"patient/4711"`
	Route        []string            `json:"route,omitempty" doc:"Agents that the task visits in turn. With dependencies, it sets out by itself when they have completed."`
	Start        bool                `json:"start,omitempty" doc:"The calling agent works on the task itself."`
	Send         *handoffs.SendInput `json:"send,omitempty" doc:"Hand the task off at once, in the same entry; leave its task and epoch out."`
	Claimed      json.RawMessage     `json:"claimed_history,omitempty" doc:"History from elsewhere: kept as claimed, never as entries of ours."`
}

// Create makes a task, and starts or sends it in the same decision if the input says so.
func (ts *Tasks) Create(ctx context.Context, c caller.Caller, in *CreateInput) (taskstore.Receipt, error) {
	var r taskstore.Receipt
	request, err := c.Digest("create", in)
	if err == nil {
		r, err = ts.create(ctx, c, in, request)
	}
	if err != nil {
		return taskstore.Receipt{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "create", "", err)
	}
	return r, nil
}

// create makes a task for a call whose request has that digest.
func (ts *Tasks) create(ctx context.Context, c caller.Caller, in *CreateInput, request string) (taskstore.Receipt, error) {
	if err := c.May(identity.ActOwn, "create a task"); err != nil {
		return taskstore.Receipt{}, err
	}
	if err := in.Content.Check(); err != nil {
		return taskstore.Receipt{}, err
	}
	if in.Send != nil && !in.Send.Content.IsZero() && !in.Content.IsZero() {
		return taskstore.Receipt{}, refusal.New(refusal.Invalid, "give it once: the content of the task is what its receiver gets", "the task and its handoff both have a content").With("field", "send.content")
	}
	if err := ts.handoffs.CheckExpected(in.Expected); err != nil {
		return taskstore.Receipt{}, err
	}
	n, err := c.NewID(taskstore.Kind)
	if err != nil {
		return taskstore.Receipt{}, err
	}
	id := event.TaskID(n)
	var send *handoffs.SendInput
	var auto handoffs.Automatic
	if in.Send != nil {
		send = new(handoffs.SendInput)
		*send = *in.Send
		send.Auto = &auto
	}
	leave, err := ts.enterWork(ctx, c, in.Content, send)
	if err != nil {
		return taskstore.Receipt{}, err
	}
	defer leave()
	w := c.Write(request)
	w.New = true
	out, err := policies.Consult(ctx, &auto.Consult, func() (stream.Outcome[task.Task], error) {
		return ts.store.Do(ctx, w, taskstore.StreamOf(c.Workspace, id), func(t task.Task, now time.Time) ([]event.Event, error) {
			defer leave()
			events, err := ts.decideCreate(ctx, c, id, in, send, t, now)
			if err == nil {
				err = ts.store.Admits(ctx, c, t, events)
			}
			return events, err
		})
	})
	if err != nil {
		return taskstore.Receipt{}, err
	}
	r := ts.store.Receipt(ctx, c, out)
	if !out.Repeat { // what a repeated call would decide now is not what was done
		ts.quota.Made(c)
		r.Decision = auto.Decided
	}
	return r, nil
}

// decideCreate makes the task, then starts it, sends it, or seals its first envelope.
func (ts *Tasks) decideCreate(ctx context.Context, c caller.Caller, id string, in *CreateInput, send *handoffs.SendInput, t task.Task, now time.Time) ([]event.Event, error) {
	err := cmp.Or(ts.quota.Check(ctx, c), refusal.In("timeouts", in.Timeouts.CheckAsked()))
	if err == nil && send != nil {
		err = refusal.In("send.timeouts", send.Timeouts.CheckAsked())
	}
	if err != nil {
		return nil, err
	}
	cmd := handoff.Create{
		By: c.Principal, Task: id, Intent: in.Intent, Priority: in.Priority, Route: in.Route, Deadline: in.Deadline,
		Timeouts: in.Timeouts, Limits: in.Limits, Budget: in.Budget, Constraints: in.Constraints,
		Permissions: in.Permissions, Expected: in.Expected, Claimed: in.Claimed, Tags: in.Tags, Subject: in.Subject,
	}
	if cmd.Dependencies, err = ts.dependencies(ctx, c, in.Dependencies); err != nil {
		return nil, err
	}
	if cmd.Conversation, err = ts.talks.Bind(ctx, c.Workspace, memory.Reader{Principal: c.Principal}, in.Conversation, ""); err != nil {
		return nil, err
	}
	events, err := handoff.Decide(t, cmd, now)
	if err != nil {
		return nil, err
	}
	t.Apply(events...)
	if in.Start {
		started, err := handoff.Decide(t, handoff.Start{By: c.Principal}, now)
		if err != nil {
			return nil, err
		}
		events = append(events, started...)
		t.Apply(started...)
	}
	if send == nil || t.State == event.Parked {
		first, err := ts.first(ctx, c, t, in.Content, now)
		return append(events, first...), err
	}
	send.Task, send.Epoch = t.ID, t.Epoch
	if send.Content.IsZero() {
		send.Content = in.Content
	}
	next, err := ts.handoffs.Decide(ctx, c, *send, t, now)
	if err != nil || slices.ContainsFunc(next, isSealed) {
		return append(events, next...), err
	}
	t.Apply(next...)
	first, err := ts.first(ctx, c, t, send.Content, now) // the policy keeps it where it is
	return append(append(events, next...), first...), err
}

func isSealed(e event.Event) bool {
	_, is := e.(event.Sealed)
	return is
}

// first seals the first envelope of a task that is not handed off at once.
func (ts *Tasks) first(ctx context.Context, c caller.Caller, t task.Task, content envelopes.Content, now time.Time) ([]event.Event, error) {
	sealed, _, err := ts.sealer.Compose(ctx, c, t, envelope.Header{From: event.Bare(t.Source())}, content, now)
	if err != nil {
		return nil, err
	}
	return []event.Event{sealed}, nil
}

// dependencies reads how each task that is depended on stands now. One that does not exist, or that the caller may
// not see, is refused; so there can be no cycles.
func (ts *Tasks) dependencies(ctx context.Context, c caller.Caller, ids []string) ([]event.Dependency, error) {
	var deps []event.Dependency
	for i, id := range ids {
		if i >= event.MaxDependencies {
			return nil, refusal.In("dependencies", event.TooMany("dependencies", len(ids), event.MaxDependencies))
		}
		t, err := ts.store.For(ctx, c, id)
		if err != nil {
			return nil, refusal.In("dependencies", err)
		}
		d := event.Dependency{Task: id, State: event.Pending}
		if t.State.Final() {
			d.State = t.State
		}
		deps = append(deps, d)
	}
	return deps, nil
}
