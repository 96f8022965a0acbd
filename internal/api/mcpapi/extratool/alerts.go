package extratool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type alertsInput struct {
	Action   string            `json:"action,omitempty" enum:"list,show,silence,end" jsonschema:"default list. For operators and auditors: list, show. For operators: silence, for a time; end a silence"`
	Alert    string            `json:"alert,omitempty" jsonschema:"with show and silence: its id; silence takes a name alone for the alert of every agent"`
	Why      string            `json:"why,omitempty" jsonschema:"with silence"`
	For      argument.Duration `json:"for,omitzero" jsonschema:"with silence: how long"`
	Silence  string            `json:"silence,omitempty" jsonschema:"with end: id of the silence"`
	Severity string            `json:"severity,omitempty" values:"severities" jsonschema:"with list: at least as severe"`
	Key      string            `json:"key,omitempty"`
}

type alertShown struct {
	Alert    string   `json:"alert"`
	State    string   `json:"state"`
	Severity string   `json:"severity"`
	Meaning  string   `json:"meaning"`
	Figure   string   `json:"figure"`
	Limit    string   `json:"limit"`
	Measured string   `json:"measured,omitempty"`
	Now      string   `json:"now,omitempty"`
	Window   string   `json:"window,omitempty"`
	Since    string   `json:"since,omitempty"`
	Handoffs []string `json:"handoffs,omitempty"`
	Tickets  []string `json:"tickets,omitempty"`
	Senders  []string `json:"senders,omitempty"`
	Agents   []string `json:"agents,omitempty"`
	Number   int      `json:"number,omitempty"`
	Do       string   `json:"do"`
	Command  string   `json:"command"`
	Off      bool     `json:"off,omitempty"`
	Archived bool     `json:"archived,omitempty"`
	Silence  string   `json:"silence,omitempty"`
}

type alertsAnswer struct {
	Alerts  []alertShown `json:"alerts,omitempty"`
	Silence string       `json:"silence,omitempty"`
	Until   string       `json:"until,omitempty"`
}

var alertsTool = tool.Define[alertsInput, alertsAnswer]("alerts", "Show or silence alerts", tool.Changes,
	"What is wrong on the server: each alert with the handoffs behind it and what to do. An operator can silence one for a time.",
	func(ctx context.Context, c *tool.Call, in alertsInput) (tool.Answer, error) {
		if err := in.check(); err != nil {
			return tool.Answer{}, err
		}
		boss := admin.New(c.Client)
		ctx = tool.Keyed(ctx, in.Key)
		var list admin.AlertList
		var err error
		switch in.Action {
		case "show":
			var a admin.Alert
			if a, err = boss.Alert(ctx, in.Alert); err == nil {
				list.Alerts = []admin.Alert{a}
			}
		case "silence":
			o, err := boss.SilenceAlert(ctx, admin.SilenceInput{Alert: in.Alert, Reason: in.Why, For: client.Duration(in.For)})
			out := alertsAnswer{Silence: o.ID, Until: o.Until.UTC().Format(time.RFC3339)}
			return tool.Answer{Text: fmt.Sprintf("%s is silenced until %s (silence %s).", o.Alert, out.Until, o.ID), Data: out}, err
		case "end":
			list, err = boss.EndSilence(ctx, in.Silence)
		default:
			list, err = boss.Alerts(ctx, admin.AlertOptions{Severity: in.Severity})
		}
		if err != nil {
			return tool.Answer{}, err
		}
		return alertsText(list.Alerts), nil
	})

// check refuses arguments that are missing or would have no effect.
func (in alertsInput) check() error {
	switch {
	case (in.Action == "show" || in.Action == "silence") != (in.Alert != ""):
		return argument.Invalid("show and silence need alert, and it is for them: list the alerts to see their ids")
	case in.Action != "silence" && (in.Why != "" || in.For != 0):
		return argument.Invalid("why and for are for silence: omit them")
	case in.Action == "silence" && (in.Why == "" || in.For == 0):
		return argument.Invalid("silence needs why and for, such as 2h")
	case (in.Action == "end") != (in.Silence != ""):
		return argument.Invalid("end needs silence, the id of one, and it is for end")
	case in.Severity != "" && in.Action != "" && in.Action != "list":
		return argument.Invalid("severity is for list: omit it")
	}
	return nil
}

func alertsText(list []admin.Alert) tool.Answer {
	var text strings.Builder
	out := alertsAnswer{Alerts: []alertShown{}}
	for _, a := range list {
		n := alertShown{
			Alert: a.ID, State: a.State, Severity: a.Severity, Meaning: a.Meaning, Figure: a.Figure, Limit: a.Limit, Measured: a.Measured, Now: a.Now, Window: a.Window,
			Handoffs: a.Handoffs, Tickets: a.Tickets, Senders: a.Senders, Agents: a.Agents, Number: a.Number, Do: a.Do, Command: a.Command,
			Off: a.Off, Archived: a.Archived,
		}
		fmt.Fprintf(&text, "- %s (%s, %s): %s %s.", a.ID, a.Severity, a.State, show.Line(a.Meaning), show.Line(a.Reading()))
		if a.Since != nil {
			n.Since = a.Since.UTC().Format(time.RFC3339)
			fmt.Fprintf(&text, " Since %s.", n.Since)
		}
		if why := a.Why(); why != "" {
			fmt.Fprintf(&text, " Over, since %s.", why)
		}
		if a.Silence != nil {
			n.Silence = a.Silence.ID
			fmt.Fprintf(&text, " Silenced until %s (%s).", a.Silence.Until.UTC().Format(time.RFC3339), n.Silence)
		}
		if len(a.Agents) > 0 {
			fmt.Fprintf(&text, " Agents (%d): %s.", a.Number, strings.Join(a.Agents, ", "))
		}
		if len(a.Senders) > 0 {
			fmt.Fprintf(&text, " Senders: %s.", strings.Join(a.Senders, ", "))
		}
		if len(a.Handoffs) > 0 {
			fmt.Fprintf(&text, " Handoffs: %s.", strings.Join(a.Handoffs, ", "))
		}
		if len(a.Tickets) > 0 {
			fmt.Fprintf(&text, " Tickets: %s.", strings.Join(a.Tickets, ", "))
		}
		fmt.Fprintf(&text, " %s Begin with: %s\n", a.Do, a.Command)
		out.Alerts = append(out.Alerts, n)
	}
	if len(list) == 0 {
		text.WriteString("No alerts.\n")
	}
	return tool.Answer{Text: text.String(), Data: out}
}
