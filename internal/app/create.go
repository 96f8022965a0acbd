package app

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/envelope"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/rulebook"
	"github.com/trapezehq/trapeze/internal/sending"
	"github.com/trapezehq/trapeze/internal/stream"
)

// CreateInput makes a task.
type CreateInput struct {
	Intent       string            `json:"intent" doc:"What is wanted, in the requester's own words; kept verbatim for ever." minLength:"1"`
	Content      Content           `json:"content,omitzero" doc:"What the first envelope says beside the intent."`
	Priority     fact.Priority     `json:"priority,omitempty" enum:"low,normal,high,urgent" doc:"Orders every inbox; normal if left out."`
	Deadline     time.Time         `json:"deadline,omitzero" doc:"When the task goes to the dead-letter queue if it has not ended."`
	Timeouts     fact.Timeouts     `json:"timeouts,omitzero" doc:"The clocks of the task's handoffs and leases."`
	Limits       fact.Limits       `json:"limits,omitzero" doc:"Hops, handoffs, visits, escalations, attempts, tasks."`
	Budget       fact.Budget       `json:"budget,omitzero" doc:"What the task may spend, as its agents report it."`
	Constraints  []fact.Constraint `json:"constraints,omitempty" doc:"Rules for whoever holds the task. They can be tightened, never loosened."`
	Permissions  []string          `json:"permissions,omitempty" doc:"What its holder may do; only narrows from hop to hop. Left out: not restricted here."`
	Dependencies []string          `json:"dependencies,omitempty" doc:"Ids of tasks that must complete before this one can start."`
	Expected     fact.Expected     `json:"expected,omitzero" doc:"What the result must look like."`
	Conversation string            `json:"conversation,omitempty" doc:"The conversation that the task belongs to; what is said in it goes along, condensed."`
	Tags         []string          `json:"tags,omitempty" doc:"Labels that the policy's rules may ask for; children have them too."`
	Route        []string          `json:"route,omitempty" doc:"Agents that the task visits in turn. With dependencies, it sets out by itself when they have completed."`
	Start        bool              `json:"start,omitempty" doc:"The calling agent works on the task itself."`
	Send         *SendInput        `json:"send,omitempty" doc:"Hand the task off at once, in the same entry; leave its task and epoch out."`
	Claimed      json.RawMessage   `json:"claimed_history,omitempty" doc:"History from elsewhere: kept as claimed, never as entries of ours."`
}

// Create makes a task, and starts or sends it in the same decision if the input says so.
func (a *App) Create(ctx context.Context, c Caller, in CreateInput) (docket.Receipt, error) {
	var r docket.Receipt
	request, err := c.Digest("create", in)
	if err == nil {
		r, err = a.create(ctx, c, in, request)
	}
	if err != nil {
		return docket.Receipt{}, a.access.Refused(ctx, c.Who(), "create", "", err)
	}
	return r, nil
}

// create makes a task for a call whose request has that digest.
func (a *App) create(ctx context.Context, c Caller, in CreateInput, request string) (docket.Receipt, error) {
	if err := c.May(identity.ActOwn, "create a task"); err != nil {
		return docket.Receipt{}, err
	}
	if err := in.Content.Check(); err != nil {
		return docket.Receipt{}, err
	}
	if err := a.sender.CheckExpected(in.Expected); err != nil {
		return docket.Receipt{}, err
	}
	n, err := c.NewID(docket.Kind)
	if err != nil {
		return docket.Receipt{}, err
	}
	id := fact.TaskID(n)
	cmd := handoff.Create{
		By: c.By(), Task: id, Intent: in.Intent, Priority: in.Priority, Route: in.Route, Deadline: in.Deadline,
		Timeouts: in.Timeouts, Limits: in.Limits, Budget: in.Budget, Constraints: in.Constraints,
		Permissions: in.Permissions, Expected: in.Expected, Claimed: in.Claimed, Conversation: in.Conversation, Tags: in.Tags,
	}
	var auto sending.Automatic
	if in.Send != nil {
		send := *in.Send
		send.Auto, in.Send = &auto, &send
	}
	w := c.Write(request)
	w.New = true
	out, err := rulebook.Consult(ctx, &auto.Consult, func() (stream.Outcome[custody.Task], error) {
		return a.tasks.Do(ctx, w, docket.StreamOf(c.Workspace, id), func(t custody.Task, now time.Time) ([]fact.Event, error) {
			return a.decideCreate(ctx, c, cmd, &in, t, now)
		})
	})
	if err != nil {
		return docket.Receipt{}, err
	}
	r := docket.ReceiptOf(out)
	if !out.Repeat { // what a repeated call would decide now is not what was done
		a.quota.Made(c)
		r.Decision = auto.Decided
	}
	return r, nil
}

// decideCreate makes the task, then starts it, sends it, or seals its first envelope.
func (a *App) decideCreate(ctx context.Context, c Caller, cmd handoff.Create, in *CreateInput, t custody.Task, now time.Time) ([]fact.Event, error) {
	err := a.quota.Room(ctx, c)
	if err != nil {
		return nil, err
	}
	if cmd.Dependencies, err = a.dependencies(ctx, c, in.Dependencies); err != nil {
		return nil, err
	}
	events, err := handoff.Decide(t, cmd, now)
	if err != nil {
		return nil, err
	}
	t.Apply(events...)
	if in.Start {
		started, err := handoff.Decide(t, handoff.Start{By: c.By()}, now)
		if err != nil {
			return nil, err
		}
		events = append(events, started...)
		t.Apply(started...)
	}
	if in.Send == nil || t.State == fact.Parked {
		first, err := a.first(ctx, c, t, in.Content, now)
		return append(events, first...), err
	}
	send := *in.Send
	send.Task, send.Epoch = t.ID, t.Epoch
	if send.Content.IsZero() {
		send.Content = in.Content
	}
	next, err := a.sender.Decide(ctx, c, send, t, now)
	if err != nil || slices.ContainsFunc(next, isSealed) {
		return append(events, next...), err
	}
	t.Apply(next...)
	first, err := a.first(ctx, c, t, send.Content, now) // the policy keeps it where it is
	return append(append(events, next...), first...), err
}

func isSealed(e fact.Event) bool {
	_, is := e.(fact.Sealed)
	return is
}

// first seals the first envelope of a task that is not handed off at once.
func (a *App) first(ctx context.Context, c Caller, t custody.Task, content Content, now time.Time) ([]fact.Event, error) {
	sealed, _, err := a.sealer.Compose(ctx, c, t, envelope.Header{From: t.Source()}, content, now)
	if err != nil {
		return nil, err
	}
	return []fact.Event{sealed}, nil
}

// dependencies reads how each task that is depended on stands now. One that does not exist, or that the caller may
// not see, is refused; so there can be no cycles.
func (a *App) dependencies(ctx context.Context, c Caller, ids []string) ([]fact.Dependency, error) {
	var deps []fact.Dependency
	for i, id := range ids {
		if i >= fact.MaxDependencies {
			return nil, fact.TooMany("dependencies", len(ids), fact.MaxDependencies)
		}
		t, err := a.tasks.For(ctx, c, id)
		if err != nil {
			return nil, err
		}
		d := fact.Dependency{Task: id, State: fact.Pending}
		if t.State.Final() {
			d.State = t.State
		}
		deps = append(deps, d)
	}
	return deps, nil
}

// Start makes the calling agent the owner of its own pending task.
func (a *App) Start(ctx context.Context, c Caller, task string) (docket.Receipt, error) {
	return a.tasks.Change(ctx, c, "start", task, nil, handoff.Start{By: c.By()})
}
