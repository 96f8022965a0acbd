package client

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// Event is an entry of the event stream, without its content.
type Event struct {
	Position uint64    `json:"position"`
	Time     time.Time `json:"time"`
	Kind     string    `json:"kind"` // task, agent, channel or token
	ID       string    `json:"id"`
	Actor    string    `json:"actor"`
	Events   []string  `json:"events"`
}

// Now, as the position that [Client.Events] starts after, means: only later events.
const Now = wire.Now

// Events calls fn with the events after a position (0: from the beginning; [Now]: from now on), in order, each event
// once, until ctx ends or fn fails. It reconnects by itself, see [Options.Watch], and goes on where it was. Refusals end it.
func (c *Client) Events(ctx context.Context, after uint64, fn func(Event) error) error {
	return wire.Follow(ctx, &c.conn, path("events"), "entry", after, c.watch, fn)
}
