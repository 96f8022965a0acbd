package channels

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// DescribeInput changes what a channel is for.
type DescribeInput struct {
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty" doc:"Left out: none."`
}

// Describe changes what a channel is for, as its owner or an operator.
func (cs *Channels) Describe(ctx context.Context, c caller.Caller, in DescribeInput) (Channel, error) {
	return cs.do(ctx, c, "describe-channel", in.Name, in,
		channel.Describe{By: c.Principal, Name: in.Name, Description: in.Description})
}
