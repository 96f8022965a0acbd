package channels

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// SubscriptionInput says who subscribes to a channel, or no longer does.
type SubscriptionInput struct {
	Channel string `json:"channel,omitempty"`
	Agent   string `json:"agent,omitempty" doc:"Left out: the calling agent. Operators may name any."`
}

// Subscribe adds an agent to those who get what is published from now on: the caller, or, for operators, any.
func (cs *Channels) Subscribe(ctx context.Context, c caller.Caller, in SubscriptionInput) (Channel, error) {
	if in.Agent != "" && in.Agent != c.Agent() {
		known, err := cs.agents.Find(ctx, c.Workspace, in.Agent, true)
		if err == nil && !known.Exists() {
			err = cs.agents.Unknown(ctx, c.Workspace, in.Agent)
		}
		if err != nil {
			return Channel{}, cs.access.Refused(ctx, c.Workspace, c.Actor(), "subscribe", in.Channel, err)
		}
		in.Agent = known.Name
	}
	return cs.do(ctx, c, "subscribe", in.Channel, in, channel.Subscribe{By: c.Principal, Name: in.Channel, Agent: in.Agent})
}
