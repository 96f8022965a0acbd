package channels

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// MaxChannels is the most channels that a workspace may have. It is counted in the views, so several that are created at
// once may exceed it by a few.
const MaxChannels = 1000

// ChannelInput makes a channel.
type ChannelInput struct {
	Name        string `json:"name" doc:"As agents are named: a-z, 0-9, '-', '_' and '.'." minLength:"1"`
	Description string `json:"description,omitempty" doc:"What it is for."`
}

// Create makes a channel, without subscribers. The caller is its owner.
func (cs *Channels) Create(ctx context.Context, c caller.Caller, in ChannelInput) (Channel, error) {
	if err := cs.room(ctx, c, in.Name); err != nil {
		return Channel{}, cs.access.Refused(ctx, c.Workspace, c.Actor(), "create-channel", in.Name, err)
	}
	return cs.do(ctx, c, "create-channel", in.Name, in,
		channel.Create{By: c.Principal, Name: in.Name, Description: in.Description})
}

// room refuses (limit) one channel more than a workspace may have. One that is there already is no more.
func (cs *Channels) room(ctx context.Context, c caller.Caller, name string) error {
	if err := c.May(identity.ActOwn, "create a channel"); err != nil {
		return err
	}
	n, err := cs.views.ChannelCount(ctx, c.Workspace)
	if err != nil {
		return stream.Unavailable(err)
	}
	if n < MaxChannels {
		return nil
	}
	if err := refusal.In("id", channel.CheckName(name)); err != nil {
		return err
	}
	f, err := cs.store.Load(ctx, StreamOf(c.Workspace, name), true)
	if err != nil || f.State.Exists() {
		return err
	}
	return refusal.New(refusal.Limit, "use one that there is, or have one removed that nobody needs",
		"workspace %s has %d channels; at most %d are allowed", c.Workspace, n, MaxChannels)
}
