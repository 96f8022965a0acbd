package mcpapi

import (
	"context"

	"github.com/trapezehq/trapeze/client"
)

// subscribe subscribes the calling agent to channels.
func (c *call) subscribe(ctx context.Context, channels []string) error {
	for _, name := range channels {
		if _, err := c.Subscribe(ctx, name, client.SubscriptionInput{}); err != nil {
			return err
		}
	}
	return nil
}
