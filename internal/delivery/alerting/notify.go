package alerting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/delivery/notify"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/alerts"
)

// tries is how often a message is sent to one sink, over about three minutes.
const tries = 10

// Sink is a sink with the severity from which on it is notified.
type Sink struct {
	notify.Sink
	Least alert.Severity // "": all
}

// wants reports whether the sink is notified of an alert.
func (s *Sink) wants(severity alert.Severity) bool {
	return s.Least == "" || alert.Severities.Index(severity) >= alert.Severities.Index(s.Least)
}

// notify follows the record for one sink, at its own pace and from its own saved position. A new sink is notified of the alerts that are
// raised first.
func (a *Alerting) notify(ctx context.Context, s *Sink) error {
	name := "alerts/" + s.Name()
	save := func(at ledger.Position) error { return a.views.SaveCursor(context.WithoutCancel(ctx), name, at) } // what was sent as ctx ended counts
	after, err := a.views.Cursor(ctx, name)
	if err != nil {
		return err
	}
	had := map[string]ledger.Position{} // by workspace: up to where the state that was sent has its alerts
	if after == 0 {
		if after, err = a.notifyRaised(ctx, s, had); err != nil {
			return err
		}
		if err := save(after); err != nil {
			return err
		}
	}
	skipped := func(at ledger.Position, err error) {
		a.o.Log.Error("nobody is notified of alerts in a damaged entry", "sink", s.Name(), "position", at, "error", err)
	}
	return ledger.FollowPast(ctx, a.ledger, after, skipped, func(entries []ledger.Entry) error {
		for i := range entries {
			if workspace, kind, _ := entries[i].Stream.Parts(); kind != alerts.Kind || entries[i].Position <= had[workspace] {
				continue
			}
			if err := a.notifyEntry(ctx, s, &entries[i]); err != nil {
				return err
			}
			if err := save(entries[i].Position); err != nil {
				return err
			}
		}
		return save(entries[len(entries)-1].Position)
	})
}

// notifyRaised notifies a new sink of the alerts that are raised, and returns a position from which on it follows. In had it notes up to
// where it has the alerts of each workspace.
func (a *Alerting) notifyRaised(ctx context.Context, s *Sink, had map[string]ledger.Position) (ledger.Position, error) {
	last, err := a.ledger.Last(ctx)
	if err != nil {
		return 0, err
	}
	workspaces, err := a.workspaces(ctx)
	if err != nil {
		return 0, err
	}
	for _, w := range workspaces {
		state, head, err := a.alerts.State(ctx, w)
		if err != nil {
			return 0, err
		}
		had[w] = head
		for _, one := range state.Alerts {
			if !one.Notified {
				continue
			}
			if err := a.send(ctx, s, w, one); err != nil {
				return 0, err
			}
		}
	}
	return max(last, 1), nil
}

// notifyEntry sends the messages of an entry.
func (a *Alerting) notifyEntry(ctx context.Context, s *Sink, e *ledger.Entry) error {
	workspace, _, _ := e.Stream.Parts()
	events, err := a.alerts.Codec().DecodeAll(e.Events)
	if err != nil {
		return err
	}
	state, err := a.alerts.StateAt(ctx, *e)
	if err != nil {
		return err
	}
	for _, ev := range events {
		for _, one := range notified(ev, state) {
			if err := a.send(ctx, s, workspace, one); err != nil {
				return err
			}
		}
	}
	return nil
}

// notified returns the alerts that people are notified of because of an event, after which the state is that.
func notified(ev alert.Event, state alert.State) (list []alert.Alert) {
	switch ev := ev.(type) {
	case alert.Raised:
		if !ev.Silenced && ev.Within == "" {
			list = append(list, alert.Alert{Raised: ev})
		}
	case alert.Recovered:
		i := slices.IndexFunc(state.Past, func(p alert.Alert) bool { return p.Key == ev.Key && p.Recovered.Equal(ev.At) })
		if ev.Notified && i >= 0 {
			list = append(list, state.Past[i])
		}
	case alert.SilenceEnded:
		for _, k := range ev.Notified {
			if one, ok := state.Find(k); ok {
				list = append(list, one)
			}
		}
	}
	return list
}

// messageOf returns the message about an alert.
func messageOf(workspace string, one alert.Alert) notify.Alert {
	d, _ := alert.Find(one.Name)
	d.Threshold = one.Threshold
	if w, err := time.ParseDuration(one.Window); err == nil {
		d.Window = w
	}
	of := alerts.Describe(d, one.Key, one.Handoffs)
	m := notify.Alert{
		Event: one.EventName(), Workspace: workspace, Alert: of.ID, Name: one.Name, Agent: one.Agent, Severity: one.Severity, Meaning: of.Meaning,
		Figure: one.Figure, Value: one.Value, Threshold: one.Threshold, Measured: d.Unit.Text(one.Value), Limit: of.Limit, Window: one.Window, Since: one.Since, Raised: one.At, Recovered: one.Recovered,
		Handoffs: of.Handoffs, Tickets: one.Tickets, Do: of.Do, Command: of.Command,
		Senders: one.Senders, Agents: one.Agents, Number: one.Number,
	}
	if !one.Recovered.IsZero() {
		m.Event, m.Off, m.Archived = alert.Recovered{}.EventName(), one.Off, one.Archived
		if one.Remains != "" {
			m.Remains = alert.Key{Name: one.Remains, Agent: one.Agent}.ID()
		}
	}
	m.ID = fmt.Sprintf("%s/%s@%d#%s", workspace, of.ID, one.At.UnixNano(), m.Event)
	return m
}

// send sends a message, and tries again after pauses. One that cannot be sent is logged. Its error is that of ctx, if that
// ended before.
func (a *Alerting) send(ctx context.Context, s *Sink, workspace string, one alert.Alert) error {
	if !s.wants(one.Severity) {
		return nil
	}
	m := messageOf(workspace, one)
	for try := 1; ; try++ {
		err := s.Send(ctx, m)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, notify.ErrRefused) || try == tries {
			a.o.Log.Error("people could not be notified of an alert", "sink", s.Name(), "alert", m.Alert, "event", m.Event, "tries", try, "error", err)
			return nil
		}
		a.o.Log.Warn("people are notified again of an alert", "sink", s.Name(), "alert", m.Alert, "try", try, "error", err)
		sleep(ctx, min(event.Backoff(try-1, 0), 30*time.Second))
	}
}
