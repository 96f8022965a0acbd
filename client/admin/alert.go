package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/wire"
)

// Alert is an alert with what people need to know of it.
type Alert struct {
	ID        string        `json:"id"` // its name and, of one of an agent, a colon and the agent
	Name      string        `json:"name"`
	Agent     string        `json:"agent,omitempty"`
	State     string        `json:"state"`    // raised, recovered, clear or off
	Severity  string        `json:"severity"` // of [Severities]
	Meaning   string        `json:"meaning"`  // what is wrong, in a sentence
	Figure    string        `json:"figure"`
	Value     float64       `json:"value"` // of the figure when it was raised
	Threshold float64       `json:"threshold"`
	Limit     string        `json:"limit"`              // the threshold as people read it, with the comparison: "> 0.5 %"
	Measured  string        `json:"measured,omitempty"` // the value as people read it
	Now       string        `json:"now,omitempty"`      // the value as it was measured last; empty: it does not hold, or the server has not measured it
	Window    string        `json:"window,omitempty"`   // empty: the value is of one moment
	Since     *time.Time    `json:"since,omitempty"`    // when it began to hold
	Raised    *time.Time    `json:"raised,omitempty"`
	Recovered *time.Time    `json:"recovered,omitempty"`
	Handoffs  []string      `json:"handoffs"`           // at most 5 that are behind it, the most telling first
	Tickets   []string      `json:"tickets,omitempty"`  // at most 5 that are behind it, the oldest first; nil: it is not about tickets
	Senders   []string      `json:"senders,omitempty"`  // at most 5 principals whose handoffs are behind it, those with most first; nil: it is not about what somebody sends
	Agents    []string      `json:"agents,omitempty"`   // of one of all agents that have none of their own: the first of them, at most 50
	Number    int           `json:"number,omitempty"`   // of the same: how many they are
	Do        string        `json:"do"`                 // what to do about it
	Command   string        `json:"command"`            // to begin with, for a shell
	Within    string        `json:"within,omitempty"`   // the severer alert of the same figure that is raised too, or was when this one recovered; people were notified of that one
	Remains   string        `json:"remains,omitempty"`  // of one that recovered: the milder alert of the same figure that was still raised then
	Off       bool          `json:"off,omitempty"`      // of one that recovered: the policy switched it off
	Archived  bool          `json:"archived,omitempty"` // of one that recovered: the workspace was archived
	Silence   *AlertSilence `json:"silence,omitempty"`
}

// Reading says in one line what was measured: "trapeze.handoffs.failed is 3 over 5m (threshold: > 0), now 2". It leaves out what is absent.
func (a Alert) Reading() string {
	text := a.Figure
	for _, part := range []struct{ before, of, after string }{{" is ", a.Measured, ""}, {" over ", a.Window, ""}, {" (threshold: ", a.Limit, ")"}, {", now ", a.Now, ""}} {
		if part.of != "" {
			text += part.before + part.of + part.after
		}
	}
	return text
}

// Why says why an alert that recovered may hold still: the policy switched it off, or the workspace was archived. "" if neither is so.
func (a Alert) Why() string {
	switch {
	case a.Archived:
		return "the workspace was archived"
	case a.Off:
		return "the policy switched it off"
	}
	return ""
}

// AlertSilence is a time for which people are not notified of an alert.
type AlertSilence struct {
	ID     string    `json:"id"`
	Alert  string    `json:"alert"` // its id; without an agent, the alert of every agent
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	From   time.Time `json:"from"`
	Until  time.Time `json:"until"`
}

// AlertList is the alerts and the silences of a workspace.
type AlertList struct {
	Alerts   []Alert        `json:"alerts"`   // the most severe first
	Silences []AlertSilence `json:"silences"` // that have not ended
	Position uint64         `json:"position"` // for [AlertOptions].Since
}

// AlertOptions say which alerts are listed.
type AlertOptions struct {
	Severity string        // only alerts at least as severe, of [Severities]; empty: all
	Past     bool          // also the last that recovered
	Wait     time.Duration // at most 55 s, until there is one or, with Since, until something changes; 0: not at all
	Since    uint64        // the position of an earlier list
}

// Severities lists the severities of alerts, the mildest first.
func Severities() []string { return []string{"info", "warning", "critical"} }

// Alerts lists the alerts that are raised. It is for operators and auditors.
func (c Client) Alerts(ctx context.Context, o AlertOptions) (AlertList, error) {
	q := wire.Query{}
	q.Text("severity", o.Severity)
	q.Flag("past", o.Past)
	if o.Wait > 0 {
		q.Text("wait", o.Wait.String())
	}
	q.Position("since", o.Since)
	return call[AlertList](ctx, c, http.MethodGet, q, nil, "alerts")
}

// Alert shows an alert by its id: as it is raised, was raised lately, or is defined. It is for operators and auditors.
func (c Client) Alert(ctx context.Context, id string) (Alert, error) {
	return call[Alert](ctx, c, http.MethodGet, nil, nil, "alerts", id)
}

// SilenceInput silences an alert.
type SilenceInput struct {
	Alert  string          `json:"alert"`  // its id; its name alone is the alert of every agent
	Reason string          `json:"reason"` // why nobody needs to be notified
	For    client.Duration `json:"for"`    // 1 minute to 30 days
}

// SilenceAlert has people not notified of an alert for a time. It is for operators.
func (c Client) SilenceAlert(ctx context.Context, in SilenceInput) (AlertSilence, error) {
	return call[AlertSilence](ctx, c, http.MethodPost, nil, in, "alerts", "silences")
}

// EndSilence ends a silence before its time, and returns the alerts. It is for operators.
func (c Client) EndSilence(ctx context.Context, id string) (AlertList, error) {
	return call[AlertList](ctx, c, http.MethodDelete, nil, nil, "alerts", "silences", id)
}
