package httpapi

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// patiently serves a call that may wait. It ends when the token of the caller becomes invalid.
func patiently[O any](ctx context.Context, s *service, wait string, serve func(ctx context.Context, wait time.Duration) (O, error)) (out O, err error) {
	var long event.Duration
	if wait != "" {
		if err := long.UnmarshalText([]byte(wait)); err != nil {
			return out, err
		}
	}
	if long <= 0 {
		return serve(ctx, time.Duration(long))
	}
	endpoint.Patient(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go s.endWithToken(ctx, cancel)
	out, err = serve(ctx, time.Duration(long))
	if over := endpoint.Still(ctx); over != nil {
		var none O
		return none, over
	}
	return out, err
}

// endWithToken ends a call when its token has expired or was revoked, at most one heartbeat later.
func (s *service) endWithToken(ctx context.Context, end context.CancelFunc) {
	beat := time.NewTicker(s.opts.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			if endpoint.Still(ctx) != nil {
				end()
			}
		case <-ctx.Done():
			return
		}
	}
}
