package channels

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Unsubscribe takes an agent away: the caller, or, for operators, any. What was offered to it before stays offered.
func (cs *Channels) Unsubscribe(ctx context.Context, c caller.Caller, in SubscriptionInput) (Channel, error) {
	agent, err := cs.agents.Identity(ctx, c.Workspace, in.Agent)
	if err != nil {
		return Channel{}, cs.access.Refused(ctx, c.Workspace, c.Actor(), "unsubscribe", in.Channel, err)
	}
	in.Agent = agent
	return cs.do(ctx, c, "unsubscribe", in.Channel, in, channel.Unsubscribe{By: c.Principal, Name: in.Channel, Agent: in.Agent})
}
