package alerts

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Judge raises the alerts whose conditions hold, lets recover those whose conditions do not, and ends silences whose time is over: one
// entry, or none if nothing changes. It is for the server itself. What could not be recorded is found again by the next call.
func (as *Alerts) Judge(ctx context.Context, c caller.Caller, found alert.Judge) error {
	if !c.IsSystem() {
		return refusal.New(refusal.NotPermitted, "the server judges by itself", "%s may not raise alerts", c.Short())
	}
	out, err := as.kind.Do(ctx, c.Write(""), StreamOf(c.Workspace), func(s alert.State, now time.Time) ([]alert.Event, error) {
		return alert.Decide(s, found, now)
	})
	if err != nil {
		as.last.set(c.Workspace, found.Conditions)
		return err
	}
	as.last.set(c.Workspace, alert.Named(*out.State, found))
	return nil
}
