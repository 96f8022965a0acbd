package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// ClockInput moves the clock of a server for tests.
type ClockInput struct {
	By event.Duration `json:"by" doc:"How far the clock is moved; the timers on the way run, in order."`
}

// Clock is the time of a server for tests.
type Clock struct {
	Now time.Time `json:"now"`
}

// clock adds the route that moves the clock, on a server that has one that can be moved. The description of an ordinary server does
// not have the route.
func (s *service) clock() {
	if s.opts.Advance == nil {
		return
	}
	var mu sync.Mutex
	moved := map[string]Clock{} // by key: a call that is repeated must not move the clock again
	endpoint.Create(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/clock", ID: "move-clock", Summary: "Move the clock of a server for tests",
		About: "For administrators. Every timer on the way runs, at its own time; the answer comes when all of them have.", Tag: endpoint.TagRecord,
	}, func(ctx context.Context, c caller.Caller, in ClockInput) (Clock, error) {
		by := time.Duration(in.By)
		switch {
		case c.Role != identity.Admin || c.Workspace != identity.DefaultWorkspace:
			return Clock{}, refusal.New(refusal.NotPermitted, "use an admin's token of the workspace "+identity.DefaultWorkspace, "only an administrator moves the clock")
		case by <= 0 || by > 10*event.MaxDuration:
			return Clock{}, refusal.New(refusal.Invalid, `move it by a positive duration, such as {"by":"90s"}`, "the clock cannot be moved by %s", by)
		}
		mu.Lock()
		defer mu.Unlock()
		if done, ok := moved[c.Key]; ok && c.Key != "" {
			return done, nil
		}
		now, err := s.opts.Advance(ctx, by)
		if err == nil {
			moved[c.Key] = Clock{now}
		}
		return Clock{now}, err
	})
}
