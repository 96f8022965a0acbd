package alerts

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// SilenceInput silences an alert.
type SilenceInput struct {
	Alert  string         `json:"alert" minLength:"1" maxLength:"100" doc:"The id of the alert, such as circuit-open:coder; its name alone is the alert of every agent."`
	Reason string         `json:"reason" minLength:"1" maxLength:"500" doc:"Why nobody needs to be notified."`
	For    event.Duration `json:"for" doc:"How long, such as 2h; at most 720h."`
}

// Silence has people not notified of an alert for a time. The alert is raised and recovers all the same. It is for operators.
func (as *Alerts) Silence(ctx context.Context, c caller.Caller, in SilenceInput) (Silence, error) {
	out, err := as.silence(ctx, c, in)
	if err != nil {
		return Silence{}, as.access.Refused(ctx, c.Workspace, c.Actor(), "silence-alert", in.Alert, err)
	}
	return out, nil
}

func (as *Alerts) silence(ctx context.Context, c caller.Caller, in SilenceInput) (Silence, error) {
	if err := c.May(identity.ActAny, "silence an alert"); err != nil {
		return Silence{}, err
	}
	key, err := alert.ParseID(in.Alert)
	if err != nil {
		return Silence{}, err
	}
	request, err := c.Digest("silence-alert", in)
	if err != nil {
		return Silence{}, err
	}
	cmd := alert.Silence{By: c.Principal, Alert: key, Reason: in.Reason, For: time.Duration(in.For)}
	out, err := as.kind.Do(ctx, c.Write(request), StreamOf(c.Workspace), func(s alert.State, now time.Time) ([]alert.Event, error) {
		if _, raised := s.Find(key); !raised {
			if err := as.checkAgent(ctx, c.Workspace, key); err != nil {
				return nil, err
			}
		}
		return alert.Decide(s, cmd, now)
	})
	if err != nil {
		return Silence{}, err
	}
	events, err := as.kind.Codec().DecodeAll(out.Events)
	if err != nil {
		return Silence{}, err
	}
	for _, e := range events {
		if made, ok := e.(alert.Silenced); ok {
			return *silence(&made), nil
		}
	}
	return Silence{}, nil
}
