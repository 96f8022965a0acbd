package client

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// Channel is a named list of agents to publish to: hand a task off with its name in SendInput.Channel. The first of its
// subscribers to accept wins or, with FanOut, each gets a copy as a child task. Delivery is at least once: the id of the
// inbox item stays the same however often it is delivered.
type Channel struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Owner       string    `json:"owner"`       // the principal that created it, such as agent/planner
	Subscribers []string  `json:"subscribers"` // agents by name, at most 256
	Created     time.Time `json:"created"`
	Position    uint64    `json:"position,omitempty"`
}

// ChannelInput makes a channel.
type ChannelInput struct {
	Name        string `json:"name"`                  // 1 to 64 of a-z, 0-9, '-', '_' and '.'
	Description string `json:"description,omitempty"` // what it is for; at most 2,000 bytes
}

// DescribeInput replaces the description of a channel.
type DescribeInput struct {
	Description string `json:"description,omitempty"`
}

// SubscriptionInput says who subscribes, or no longer does.
type SubscriptionInput struct {
	Agent string `json:"agent,omitempty"` // left out: the calling agent. Operators may name any
}

// ChannelOptions says which page of the channels is wanted. The zero value is the first.
type ChannelOptions struct {
	Limit int    // of a page; 0: 50, at most 500
	After string // the Next of the page before
}

// ChannelPage is one page of a list of channels.
type ChannelPage struct {
	Channels []Channel `json:"channels"`
	Next     string    `json:"next,omitempty"` // for ChannelOptions.After; empty at the end
	Position uint64    `json:"position"`
}

// CreateChannel makes a channel, whose owner is the caller. It has no subscribers yet. Refusals: [Conflict] for a name
// that is taken, [Limit] where the workspace has too many.
func (c *Client) CreateChannel(ctx context.Context, in ChannelInput) (Channel, error) {
	return ask[Channel](ctx, c, http.MethodPost, path("channels"), nil, in)
}

// Channels lists the channels by name.
func (c *Client) Channels(ctx context.Context, o ChannelOptions) (ChannelPage, error) {
	q := wire.Query{}
	q.Number("limit", max(o.Limit, 0))
	q.Text("after", o.After)
	return ask[ChannelPage](ctx, c, http.MethodGet, path("channels"), q, nil)
}

// Channel shows one channel and who subscribes to it.
func (c *Client) Channel(ctx context.Context, name string) (Channel, error) {
	return c.channel(ctx, http.MethodGet, nil, name)
}

// DescribeChannel replaces the description of a channel, as its owner or an operator.
func (c *Client) DescribeChannel(ctx context.Context, name string, in DescribeInput) (Channel, error) {
	return c.channel(ctx, http.MethodPut, in, name, "description")
}

// Subscribe has an agent get what is published from now on; nothing of what was published before. A channel that is full refuses it ([Limit]).
func (c *Client) Subscribe(ctx context.Context, name string, in SubscriptionInput) (Channel, error) {
	return c.channel(ctx, http.MethodPost, in, name, "subscribe")
}

// Unsubscribe has an agent get nothing more. What was offered to it before stays offered.
func (c *Client) Unsubscribe(ctx context.Context, name string, in SubscriptionInput) (Channel, error) {
	return c.channel(ctx, http.MethodPost, in, name, "unsubscribe")
}

// RemoveChannel ends a channel, as its owner or an operator. What was published stays what it is.
func (c *Client) RemoveChannel(ctx context.Context, name string) (Channel, error) {
	return c.channel(ctx, http.MethodDelete, nil, name)
}

func (c *Client) channel(ctx context.Context, method string, in any, segments ...string) (Channel, error) {
	return ask[Channel](ctx, c, method, path(append([]string{"channels"}, segments...)...), nil, in)
}
