package history

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Event is an entry as the event stream tells it: what happened, to which task, by whom; not the content.
type Event struct {
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
func (h *History) Follow(ctx context.Context, c caller.Caller, after ledger.Position, fn func(Event) error) error {
	if err := c.May(identity.ReadOwn, "follow events"); err != nil {
		return h.access.Refused(ctx, c.Workspace, c.Actor(), "follow", "", err)
	}
	all := identity.May(c.Role, identity.ReadAny)
	return h.ledger.Follow(ctx, after, func(entries []ledger.Entry) error {
		for _, e := range entries {
			workspace, kind, id := e.Stream.Parts()
			if workspace != c.Workspace || kind == access.Kind || !all && !slices.Contains(public, kind) {
				continue
			}
			if kind == taskstore.Kind && !all {
				f, err := h.tasks.Load(ctx, e.Stream, false)
				if err != nil {
					return err
				}
				if !h.tasks.Sees(c, f.State) {
					continue
				}
			}
			n := Event{Position: e.Position, Time: e.Time, Kind: kind, ID: id, Actor: e.Actor.Principal}
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
