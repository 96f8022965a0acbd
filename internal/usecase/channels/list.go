package channels

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// ChannelsInput says which page of the channels is wanted.
type ChannelsInput struct {
	After string // name of the last channel of the page before
	Limit int    // 0: 50
}

// List lists the channels by name.
func (cs *Channels) List(ctx context.Context, c caller.Caller, in ChannelsInput) ([]Channel, error) {
	if err := c.May(identity.ReadOwn, "list channels"); err != nil {
		return nil, cs.access.Refused(ctx, c.Workspace, c.Actor(), "list-channels", "", err)
	}
	if err := view.CheckLimit(in.Limit); err != nil {
		return nil, err
	}
	states, err := cs.views.Channels(ctx, c.Workspace, in.After, in.Limit)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	list := make([]Channel, len(states))
	for i, s := range states {
		list[i] = of(s, 0)
	}
	return list, nil
}
