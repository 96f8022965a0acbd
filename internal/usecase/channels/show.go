package channels

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Show shows one channel. It is a fresh read.
func (cs *Channels) Show(ctx context.Context, c caller.Caller, name string) (Channel, error) {
	err := c.May(identity.ReadOwn, "show a channel")
	var f stream.Folded[channel.State]
	if err == nil {
		f, err = cs.store.find(ctx, c.Workspace, name)
	}
	if err != nil {
		return Channel{}, cs.access.Refused(ctx, c.Workspace, c.Actor(), "show-channel", name, err)
	}
	return of(f.State, f.Head), nil
}
