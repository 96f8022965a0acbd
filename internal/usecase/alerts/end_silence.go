package alerts

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// EndSilence ends a silence before its time. People are notified of the alerts that are still raised. It is for operators.
func (as *Alerts) EndSilence(ctx context.Context, c caller.Caller, id string) (List, error) {
	out, err := as.endSilence(ctx, c, id)
	if err != nil {
		return List{}, as.access.Refused(ctx, c.Workspace, c.Actor(), "end-silence", id, err)
	}
	return out, nil
}

func (as *Alerts) endSilence(ctx context.Context, c caller.Caller, id string) (List, error) {
	if err := c.May(identity.ActAny, "end a silence"); err != nil {
		return List{}, err
	}
	request, err := c.Digest("end-silence", id)
	if err != nil {
		return List{}, err
	}
	out, err := as.kind.Do(ctx, c.Write(request), StreamOf(c.Workspace), func(s alert.State, now time.Time) ([]alert.Event, error) {
		return alert.Decide(s, alert.EndSilence{By: c.Principal, ID: id}, now)
	})
	if err != nil {
		return List{}, err
	}
	return as.list(c.Workspace, out.State, ListInput{}, out.At), nil
}
