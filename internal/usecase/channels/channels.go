package channels

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Channels is the use cases of channels. Its methods are safe for many goroutines.
type Channels struct {
	store  *Store
	agents *agents.Store
	views  view.Store
	access *access.Log
}

// New returns the use cases of the channels of a store.
func New(s *Store, a *agents.Store, v view.Store, log *access.Log) *Channels {
	return &Channels{store: s, agents: a, views: v, access: log}
}

// Channel is a named list of agents to publish to.
type Channel struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Owner       string          `json:"owner"` // the principal that created it
	Subscribers []string        `json:"subscribers"`
	Created     time.Time       `json:"created"`
	Position    ledger.Position `json:"position,omitempty"`
}

// At returns the position up to which the answer is true.
func (c Channel) At() ledger.Position { return c.Position }

func of(s channel.State, at ledger.Position) Channel {
	return Channel{
		Name: s.Name, Description: s.Description, Owner: s.Owner, Subscribers: append([]string{}, s.Subscribers...), Created: s.CreatedAt, Position: at,
	}
}

func (cs *Channels) do(ctx context.Context, c caller.Caller, verb, name string, in any, cmd channel.Command) (Channel, error) {
	out, err := cs.change(ctx, c, verb, name, in, cmd)
	if err != nil {
		return Channel{}, cs.access.Refused(ctx, c.Workspace, c.Actor(), verb, name, err)
	}
	return of(*out.State, out.At), nil
}

func (cs *Channels) change(ctx context.Context, c caller.Caller, verb, name string, in any, cmd channel.Command) (out stream.Outcome[channel.State], err error) {
	if err := c.May(identity.ActOwn, "change channels"); err != nil {
		return out, err
	}
	if err := refusal.In("id", channel.CheckName(name)); err != nil {
		return out, err
	}
	request, err := c.Digest(verb, in)
	if err != nil {
		return out, err
	}
	return cs.store.Do(ctx, c.Write(request), StreamOf(c.Workspace, name), func(s channel.State, now time.Time) ([]channel.Event, error) {
		return channel.Decide(s, cmd, now)
	})
}
