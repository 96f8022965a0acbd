package httpapi

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// errStopping is the answer to a call that waits when the server stops or is drained.
var errStopping = refusal.New(refusal.Unavailable, "repeat the call in a moment, at another server if there is one; what arrives meanwhile is kept", "the server is stopping or drained, and waits no longer")

// patiently serves a call that may wait. It ends when the token of the caller becomes invalid, and when the server stops or is drained.
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
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer s.endWait(ctx, cancel)()
	out, err = serve(ctx, time.Duration(long))
	if over := endpoint.Still(ctx); over != nil {
		var none O
		return none, over
	}
	if err != nil && errors.Is(context.Cause(ctx), errStopping) {
		err = errStopping
	}
	return out, err
}

// endWait ends a call when the server stops or is drained, or when the token of the call has expired or was revoked, at most one heartbeat later, until stop
// is called. Thousands of calls wait, so none has a goroutine for that.
func (s *service) endWait(ctx context.Context, end context.CancelCauseFunc) (stop func()) {
	open := context.AfterFunc(s.opts.Stopping(), func() { end(errStopping) })
	var beat *time.Timer
	beat = time.AfterFunc(math.MaxInt64, func() {
		if ctx.Err() != nil {
			return
		}
		if endpoint.Still(ctx) != nil {
			end(nil)
		}
		beat.Reset(s.opts.Heartbeat)
	})
	beat.Reset(s.opts.Heartbeat)
	return func() { open(); beat.Stop() }
}
