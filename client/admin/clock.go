package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// ClockInput moves the clock of a server for tests.
type ClockInput struct {
	By client.Duration `json:"by"`
}

// Clock is the time of a server for tests.
type Clock struct {
	Now time.Time `json:"now"`
}

// MoveClock moves the clock of a server that was started with trapeze serve --ephemeral, and returns when every timer on the way has
// run. Other servers refuse it ([client.NotFound]).
func (c Client) MoveClock(ctx context.Context, by time.Duration) (Clock, error) {
	return call[Clock](ctx, c, http.MethodPost, nil, ClockInput{client.Duration(by)}, "clock")
}
