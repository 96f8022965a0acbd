package alerting

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/delivery/notify"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/alerts"
)

// Sink is a sink with the severity from which on it is notified.
type Sink struct {
	notify.Sink
	Least alert.Severity // "": all
}

// wants reports whether the sink is notified of an alert.
func (s *Sink) wants(severity alert.Severity) bool {
	return s.Least == "" || alert.Severities.Index(severity) >= alert.Severities.Index(s.Least)
}

// notify follows the record for one sink. A new sink is notified of the alerts that are raised first.
func (a *Alerting) notify(ctx context.Context, s *Sink) error {
	had := map[string]ledger.Position{} // by workspace: up to where the state that was sent has its alerts
	f := notify.Following{
		Ledger: a.ledger, Cursors: a.views, Name: "alerts/" + s.Name(),
		Begin: func(ctx context.Context) (ledger.Position, error) { return a.notifyRaised(ctx, s, had) },
		Means: func(e *ledger.Entry) bool {
			workspace, kind, _ := e.Stream.Parts()
			return kind == alerts.Kind && e.Position > had[workspace]
		},
		Entry: func(ctx context.Context, e *ledger.Entry) error { return a.notifyEntry(ctx, s, e) },
		Skipped: func(at ledger.Position, err error) {
			a.o.Log.Error("nobody is notified of alerts in a damaged entry", "sink", s.Name(), "position", at, "error", err)
		},
	}
	return f.Run(ctx)
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
			if err := a.send(ctx, s, w, notice{Alert: one}); err != nil {
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

// notice is an alert that people are notified of.
type notice struct {
	alert.Alert
	silence string // whose end is the reason; empty: it was raised or has recovered
}

// notified returns what people are notified of because of an event, after which the state is that.
func notified(ev alert.Event, state alert.State) (list []notice) {
	switch ev := ev.(type) {
	case alert.Raised:
		if !ev.Silenced && ev.Within == "" {
			list = append(list, notice{Alert: alert.Alert{Raised: ev}})
		}
	case alert.Recovered:
		i := slices.IndexFunc(state.Past, func(p alert.Alert) bool { return p.Key == ev.Key && p.Recovered.Equal(ev.At) })
		if ev.Notified && i >= 0 {
			list = append(list, notice{Alert: state.Past[i]})
		}
	case alert.SilenceEnded:
		for _, k := range ev.Recovered {
			if i := slices.IndexFunc(state.Past, func(p alert.Alert) bool { return p.Key == k }); i >= 0 {
				list = append(list, notice{Alert: state.Past[i]})
			}
		}
		for _, k := range ev.Notified {
			if one, ok := state.Find(k); ok {
				list = append(list, notice{one, ev.ID})
			}
		}
	}
	return list
}

// messageOf returns the message about an alert.
func messageOf(workspace string, one notice) notify.Alert {
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
	if one.silence != "" {
		m.ID += "@" + one.silence // people may have been notified of it before the silence: a receiver takes each id once
	}
	return m
}

// send sends a message if the sink wants it.
func (a *Alerting) send(ctx context.Context, s *Sink, workspace string, one notice) error {
	if !s.wants(one.Severity) {
		return nil
	}
	m := messageOf(workspace, one)
	return notify.SendAgain(ctx, a.o.Log, s, m, "alert", m.Alert, "event", m.Event)
}
