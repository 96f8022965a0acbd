package shell

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/wire"
)

// The pauses between two attempts to reach a server that went away.
const (
	firstPause = 200 * time.Millisecond
	mostPause  = 5 * time.Second
)

// WaitThrough makes calls that wait, until one is done or wait is over: each is short enough for proxies between here and the server. It
// waits for a server that went away, as long as the time is not over, and reports that on standard error; but not for one that was never
// there. It returns the newest answer, or the error of the last call. A wait of 0 makes one call.
func WaitThrough[T any](ctx context.Context, s *Shell, c *client.Client, wait time.Duration,
	do func(ctx context.Context, wait time.Duration) (v T, done bool, err error),
) (v T, err error) {
	if wait > 0 {
		if _, err := c.Me(ctx); err != nil {
			return v, err
		}
	}
	end := time.Now().Add(wait)
	pause := time.Duration(0) // 0: the server is there
	for {
		left := max(time.Until(end), 0)
		ask := min(left, client.MaxWait)
		if pause > 0 {
			ask = 0 // to notice at once that it is back
		}
		next, done, err := do(ctx, ask)
		switch {
		case err == nil:
			if pause > 0 {
				s.watch(nil)
				pause = 0
			}
			if v = next; done || left == 0 {
				return v, nil
			}
			continue
		case !client.Away(err) || ctx.Err() != nil || left == 0:
			return v, err
		case pause == 0:
			s.watch(err)
			pause = firstPause
		}
		if wire.Sleep(ctx, min(pause, left)) != nil {
			return v, err
		}
		pause = min(2*pause, mostPause)
	}
}
