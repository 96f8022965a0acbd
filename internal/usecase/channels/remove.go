package channels

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Remove ends a channel, as its owner or an operator. What was published stays what it is.
func (cs *Channels) Remove(ctx context.Context, c caller.Caller, name string) (Channel, error) {
	return cs.do(ctx, c, "remove-channel", name, nil, channel.Remove{By: c.Principal, Name: name})
}
