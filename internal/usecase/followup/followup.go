package followup

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/channels"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
	"github.com/trapezehq/trapeze/internal/usecase/presence"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/workspacestore"
)

// Parts are what follows up entries.
type Parts struct {
	Views     view.Store
	Positions *positions.Positions
	Spaces    *workspacestore.Store
	Tasks     *taskstore.Store
	Presence  *presence.Presence
	Agents    *agents.Store
	Channels  *channels.Store
	Routes    *routes.Routes
	Sealer    *envelopes.Sealer
	Handoffs  *handoffs.Handoffs
	Now       func() time.Time
}

// FollowUp does what follows from an entry, or from the time, on other streams. Its methods are safe for many goroutines.
type FollowUp struct {
	views     view.Store
	positions *positions.Positions
	spaces    *workspacestore.Store
	tasks     *taskstore.Store
	presence  *presence.Presence
	agents    *agents.Store
	channels  *channels.Store
	routes    *routes.Routes
	sealer    *envelopes.Sealer
	handoffs  *handoffs.Handoffs
	now       func() time.Time
	creating  turns // of children, by the position of the entry that has recorded them
}

// New returns what follows up the entries of a ledger.
func New(p Parts) *FollowUp {
	return &FollowUp{
		views: p.Views, positions: p.Positions, spaces: p.Spaces, tasks: p.Tasks, presence: p.Presence, agents: p.Agents, channels: p.Channels,
		routes: p.Routes, sealer: p.Sealer, handoffs: p.Handoffs, now: p.Now,
		creating: turns{busy: map[ledger.Position]chan struct{}{}},
	}
}

// strand parks what the server could not send: nobody is there to hear the refusal.
func strand(t task.Task, why error, now time.Time) ([]event.Event, error) {
	return handoff.Decide(t, handoff.Park{By: caller.System("", "courier").Principal, Why: refusal.Clip(why.Error(), 1000)}, now)
}

// tell gives a task a command of the server's own.
func (u *FollowUp) tell(ctx context.Context, workspace, id string, cmd handoff.Command) error {
	_, err := u.tasks.Do(ctx, caller.System(workspace, "courier").Write(""), taskstore.StreamOf(workspace, id), func(t task.Task, now time.Time) ([]event.Event, error) {
		return handoff.Decide(t, cmd, now)
	})
	return caller.Tolerate(err)
}
