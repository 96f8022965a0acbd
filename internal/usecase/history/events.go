package history

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Notice is an entry as the event stream tells it: what happened, to which task, by whom; not the content.
type Notice struct {
	Position ledger.Position `json:"position"`
	Time     time.Time       `json:"time"`
	Kind     string          `json:"kind"` // task, agent, channel, token, artifact, …
	ID       string          `json:"id"`   // of the task, agent, channel, token, …
	Actor    string          `json:"actor"`
	Events   []string        `json:"events"`
}

// public are the kinds of streams that agents are told of.
var public = []string{taskstore.Kind, "agent", "channel"}

// Follow calls fn with what happens after a position, in order, until ctx ends or fn fails. Agents are told of the
// tasks that they have a part in, of other agents and of channels; those who may read anything, of all but reads.
func (a *Archive) Follow(ctx context.Context, c caller.Caller, after ledger.Position, fn func(Notice) error) error {
	if err := c.May(identity.ReadOwn, "follow events"); err != nil {
		return a.access.Refused(ctx, c.Workspace, c.Actor(), "follow", "", err)
	}
	all := identity.May(c.Role, identity.ReadAny)
	return a.ledger.Follow(ctx, after, func(entries []ledger.Entry) error {
		for _, e := range entries {
			workspace, kind, id := e.Stream.Parts()
			if workspace != c.Workspace || kind == access.Kind || !all && !slices.Contains(public, kind) {
				continue
			}
			if kind == taskstore.Kind && !all {
				f, err := a.tasks.Load(ctx, e.Stream, false)
				if err != nil {
					return err
				}
				if !a.tasks.Sees(c, f.State) {
					continue
				}
			}
			n := Notice{Position: e.Position, Time: e.Time, Kind: kind, ID: id, Actor: e.Actor.Principal}
			for _, ev := range e.Events {
				n.Events = append(n.Events, ev.Name)
			}
			if err := fn(n); err != nil {
				return err
			}
		}
		return nil
	})
}

// Last is the position of the newest entry.
func (a *Archive) Last(ctx context.Context) (ledger.Position, error) {
	p, err := a.ledger.Last(ctx)
	if err != nil {
		return 0, stream.Unavailable(err)
	}
	return p, nil
}

// OnRecord refuses a position that is beyond the newest entry: it is of another record, and what comes next in this one
// would be taken for known.
func (a *Archive) OnRecord(ctx context.Context, at ledger.Position) error {
	if at <= a.views.Position() {
		return nil
	}
	last, err := a.Last(ctx)
	if err != nil || at <= last {
		return err
	}
	return refusal.New(refusal.Invalid, "give the position of an answer of this server",
		"position %d is not on record; the newest entry is %d", at, last)
}
