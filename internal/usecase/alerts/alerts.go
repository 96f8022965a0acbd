package alerts

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
)

const (
	cached     = 256   // workspaces whose alerts are kept in memory
	remembered = 1_000 // idempotency keys that a workspace remembers at least
)

// Kind is the kind of the streams of alerts.
const Kind = "alert"

// StreamOf is the stream of the alerts of a workspace.
func StreamOf(workspace string) ledger.Stream { return ledger.StreamOf(workspace, Kind, "current") }

// Changes returns what the policy of a workspace changes of the definitions, by name.
type Changes func(ctx context.Context, workspace string) (map[string]alert.Change, error)

// Alerts is the use cases of alerts. Its methods are safe for many goroutines.
type Alerts struct {
	kind    stream.Kind[alert.State, alert.Event]
	ledger  ledger.Ledger
	access  *access.Log
	agents  *agents.Store
	changes Changes
	now     func() time.Time
	last    last
}

// New returns the use cases of the alerts of a ledger.
func New(l ledger.Ledger, log *access.Log, registered *agents.Store, now func() time.Time, changes Changes) (*Alerts, error) {
	kind, err := stream.New(Kind, l, alert.Fold, now, alert.Events, stream.Options[alert.State, alert.Event]{Cached: cached, Remember: remembered})
	if err != nil {
		return nil, err
	}
	return &Alerts{kind: kind, ledger: l, access: log, agents: registered, changes: changes, now: now}, nil
}

// Codec returns the codec of the events of alerts.
func (as *Alerts) Codec() *ledger.Codec[alert.Event] { return as.kind.Codec() }

// StateAt returns the alerts of a workspace up to an entry of its stream, at least, for a follower.
func (as *Alerts) StateAt(ctx context.Context, e ledger.Entry) (alert.State, error) {
	f, err := as.kind.LoadAt(ctx, e)
	return f.State, err
}

// State returns the alerts of a workspace, as they are now, and the position of the entry that changed them last.
func (as *Alerts) State(ctx context.Context, workspace string) (alert.State, ledger.Position, error) {
	f, err := as.kind.Load(ctx, StreamOf(workspace), true)
	return f.State, f.Head, err
}

// InForce returns the definitions that are in force in a workspace, and the names of those that its policy switches off.
func (as *Alerts) InForce(ctx context.Context, workspace string) (list []alert.Definition, off []string, err error) {
	changes, err := as.changes(ctx, workspace)
	if err != nil {
		return nil, nil, err
	}
	list, off = alert.InForce(changes)
	return list, off, nil
}

// checkAgent refuses (not_found) an alert of an agent that is not registered.
func (as *Alerts) checkAgent(ctx context.Context, workspace string, k alert.Key) error {
	if k.Agent == "" || k.Agent == alert.Other {
		return nil
	}
	known, err := as.agents.Find(ctx, workspace, k.Agent, true)
	if err != nil || known.Name != "" && !known.Removed {
		return err
	}
	return as.agents.Unknown(ctx, workspace, k.Agent)
}

// Alert is an alert with what people need to know of it.
type Alert struct {
	ID        string         `json:"id" doc:"Its name and, of one of an agent, a colon and the agent."`
	Name      string         `json:"name"`
	Agent     string         `json:"agent,omitempty" doc:"The agent that it is about; (others): all agents that have none of their own."`
	State     State          `json:"state"`
	Severity  alert.Severity `json:"severity"`
	Meaning   string         `json:"meaning" doc:"What is wrong, in a sentence."`
	Figure    string         `json:"figure" doc:"The instrument, as docs/metrics.md lists it."`
	Value     float64        `json:"value" doc:"The value of the figure when it was raised."`
	Threshold float64        `json:"threshold"`
	Limit     string         `json:"limit" doc:"The threshold as people read it, with the comparison, such as > 0.5 %."`
	Measured  string         `json:"measured,omitempty" doc:"The value when it was raised, as people read it."`
	Now       string         `json:"now,omitempty" doc:"The value as it was measured last, as people read it. Absent: it does not hold, or this server has not measured it."`
	Window    string         `json:"window,omitempty" doc:"The time in which the value was measured; absent: it is of one moment."`
	Since     *time.Time     `json:"since,omitempty" doc:"When it began to hold."`
	Raised    *time.Time     `json:"raised,omitempty" doc:"When it was raised."`
	Recovered *time.Time     `json:"recovered,omitempty"`
	Handoffs  []string       `json:"handoffs" doc:"At most 5 handoffs that are behind it, the most telling first."`
	Tickets   []string       `json:"tickets,omitempty" doc:"At most 5 tickets that are behind it, the oldest first; absent: it is not about tickets."`
	Senders   []string       `json:"senders,omitempty" doc:"At most 5 principals whose handoffs are behind it, those with most first; absent: it is not about what somebody sends."`
	Agents    []string       `json:"agents,omitempty" doc:"Of an alert of all agents that have none of their own: the first of them, at most 50."`
	Number    int            `json:"number,omitempty" doc:"Of an alert of all agents that have none of their own: how many they are."`
	Do        string         `json:"do" doc:"What to do about it."`
	Command   string         `json:"command" doc:"The command to begin with, for a shell."`
	Within    string         `json:"within,omitempty" doc:"The severer alert of the same figure that is raised too, or was when this one recovered. People were notified of that one."`
	Remains   string         `json:"remains,omitempty" doc:"Of one that recovered: the milder alert of the same figure that was still raised then."`
	Off       bool           `json:"off,omitempty" doc:"Of one that recovered: the policy switched it off, and it may have held still."`
	Archived  bool           `json:"archived,omitempty" doc:"Of one that recovered: the workspace was archived, and it may have held still."`
	Silence   *Silence       `json:"silence,omitempty" doc:"The silence that covers it now."`
}

// State is the state of an alert. The set is closed.
type State string

// The states of alerts.
const (
	Raised    State = "raised"
	Recovered State = "recovered"
	Clear     State = "clear" // it was not raised lately
	Off       State = "off"   // the policy switches it off
)

// States lists every state of an alert.
func States() []State { return []State{Raised, Recovered, Clear, Off} }

// Silence is a time for which people are not notified of an alert.
type Silence struct {
	ID     string    `json:"id"`
	Alert  string    `json:"alert" doc:"The id of the alert; without an agent, the alert of every agent."`
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	From   time.Time `json:"from"`
	Until  time.Time `json:"until"`
}

func silence(s *alert.Silenced) *Silence {
	if s == nil {
		return nil
	}
	return &Silence{ID: s.ID, Alert: s.Alert.ID(), Reason: s.Reason, By: s.By, From: s.At, Until: s.Until}
}

// of returns an alert of a workspace that is or was raised. While it holds, it names what is behind it now.
func (as *Alerts) of(workspace string, s *alert.State, a alert.Alert) Alert {
	d, _ := alert.Find(a.Name)
	d.Threshold = a.Threshold
	if w, err := time.ParseDuration(a.Window); err == nil {
		d.Window = w
	}
	now, holds := as.last.of(workspace, a.Key)
	if holds = holds && a.Recovered.IsZero(); holds {
		a.Handoffs, a.Tickets = newer(now.Handoffs, a.Handoffs), newer(now.Tickets, a.Tickets)
		a.Senders = newer(now.Senders, a.Senders)
		if a.Agent == alert.Other {
			a.Agents, a.Number = now.Agents, now.Number
		}
	}
	out := Describe(d, a.Key, a.Handoffs)
	out.State, out.Severity, out.Figure = Raised, a.Severity, a.Figure
	out.Value, out.Measured, out.Window = a.Value, d.Unit.Text(a.Value), a.Window
	out.Since, out.Raised, out.Silence = &a.Since, &a.At, silence(s.SilencedAt(a.Key, as.now()))
	out.Within, out.Remains, out.Off, out.Archived, out.Tickets = a.Within, a.Remains, a.Off, a.Archived, a.Tickets
	out.Agents, out.Number, out.Senders = a.Agents, a.Number, a.Senders
	if !a.Recovered.IsZero() {
		out.State, out.Recovered = Recovered, &a.Recovered
		return out
	}
	out.Within = s.Within(a.Key)
	if holds {
		out.Now = d.Unit.Text(now.Value)
	}
	return out
}

// newer returns what is behind an alert now, or what was when it was raised, if that is not known.
func newer(now, raised []string) []string {
	if len(now) == 0 {
		return raised
	}
	return now[:min(len(now), alert.MaxHandoffs)]
}

// Describe returns what a definition says of an alert that is clear.
func Describe(d alert.Definition, k alert.Key, handoffs []string) Alert {
	out := Alert{
		ID: k.ID(), Name: k.Name, Agent: k.Agent, State: Clear, Severity: d.Severity, Figure: d.Figure, Threshold: d.Threshold, Limit: d.Limit(), Handoffs: append([]string{}, handoffs...),
	}
	if d.Name != "" { // else a program of another version raised it
		out.Meaning, out.Do, out.Command = d.Meaning(), d.Do(), d.Command(k.Agent, handoffs)
	}
	if d.Window > 0 {
		out.Window = event.Duration(d.Window).String()
	}
	return out
}
