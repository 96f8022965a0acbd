package tasks

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/expect"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
	"github.com/trapezehq/trapeze/internal/usecase/presence"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

// Parts are what the use cases of tasks are made of.
type Parts struct {
	Ledger     ledger.Ledger
	Views      view.Store
	Positions  *positions.Positions
	Store      *taskstore.Store
	Access     *access.Log
	Presence   *presence.Presence
	Agents     *agents.Agents
	AgentStore *agents.Store
	Talks      *conversations.Store
	Routes     *routes.Routes
	Policies   *policies.Store
	Decider    *policies.Decider
	Sealer     *envelopes.Sealer
	Handoffs   *handoffs.Handoffs
	Tickets    *tickets.Tickets
	Said       Said
	Expect     *expect.Checker
	Quota      *quota.Quota
	Turns      *quota.Turns
	Work       *quota.Work
	Majors     envelope.Converter
	Now        func() time.Time
}

// Tasks is the use cases of tasks. Its methods are safe for many goroutines.
type Tasks struct {
	ledger     ledger.Ledger
	views      view.Store
	positions  *positions.Positions
	store      *taskstore.Store
	access     *access.Log
	presence   *presence.Presence
	agents     *agents.Agents
	agentStore *agents.Store
	talks      *conversations.Store
	routes     *routes.Routes
	policies   *policies.Store
	decider    *policies.Decider
	sealer     *envelopes.Sealer
	handoffs   *handoffs.Handoffs
	tickets    *tickets.Tickets
	said       Said
	expect     *expect.Checker
	quota      *quota.Quota
	turns      *quota.Turns
	work       *quota.Work
	majors     envelope.Converter
	now        func() time.Time
}

// New returns the use cases of tasks.
func New(p Parts) *Tasks {
	return &Tasks{
		ledger: p.Ledger, views: p.Views, positions: p.Positions, store: p.Store, access: p.Access, presence: p.Presence, agents: p.Agents, agentStore: p.AgentStore, talks: p.Talks,
		routes: p.Routes, policies: p.Policies, decider: p.Decider, sealer: p.Sealer, handoffs: p.Handoffs, tickets: p.Tickets, said: p.Said,
		expect: p.Expect, quota: p.Quota, turns: p.Turns, work: p.Work, majors: p.Majors, now: p.Now,
	}
}

// Provided is the same use cases, where every decision on a task is refused if check refuses the task as it is when the decision
// is made. A call that is repeated with its key gets its first answer all the same.
func (ts *Tasks) Provided(check func(task.Task) error) *Tasks {
	own := *ts
	own.store = ts.store.Provided(check)
	return &own
}

// owned is [taskstore.Store.Change] for what only the owner of a task may do, and who acts as the owner: see [desk.ActsAs].
func (ts *Tasks) owned(ctx context.Context, c caller.Caller, verb, taskID string, in any, cmd func(by identity.Principal) handoff.Command) (taskstore.Receipt, error) {
	return ts.store.ChangeWith(ctx, c, verb, taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		by, err := desk.ActsAs(ctx, ts.agentStore, c, t)
		if err != nil {
			return nil, err
		}
		return handoff.Decide(t, cmd(by), now)
	})
}
