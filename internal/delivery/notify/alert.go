package notify

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
)

// Alert tells people that an alert was raised or has recovered. Nothing in it was written by agents, except for their names.
type Alert struct {
	ID        string         `json:"id"`    // of the occurrence
	Event     string         `json:"event"` // alert-raised or alert-recovered
	Workspace string         `json:"workspace"`
	Alert     string         `json:"alert"` // its id: the name and, of one of an agent, a colon and the agent
	Name      string         `json:"name"`
	Agent     string         `json:"agent,omitempty"`
	Severity  alert.Severity `json:"severity"`
	Meaning   string         `json:"meaning"`
	Figure    string         `json:"figure"`
	Value     float64        `json:"value"` // when it was raised
	Threshold float64        `json:"threshold"`
	Measured  string         `json:"measured"` // the value as people read it
	Limit     string         `json:"limit"`    // the threshold as people read it, with the comparison
	Window    string         `json:"window,omitempty"`
	Since     time.Time      `json:"since"`
	Raised    time.Time      `json:"raised"`
	Recovered time.Time      `json:"recovered,omitzero"`
	Remains   string         `json:"remains,omitempty"`  // the id of the milder alert of the same figure that is still raised
	Off       bool           `json:"off,omitempty"`      // of one that recovered: the policy switched it off
	Archived  bool           `json:"archived,omitempty"` // of one that recovered: the workspace was archived
	Handoffs  []string       `json:"handoffs"`           // at most 5 that are behind it
	Tickets   []string       `json:"tickets,omitempty"`  // at most 5 that are behind it
	Senders   []string       `json:"senders,omitempty"`  // at most 5 principals whose handoffs are behind it
	Agents    []string       `json:"agents,omitempty"`   // of one of all agents that have none of their own: the first of them, at most 50
	Number    int            `json:"number,omitempty"`   // of the same: how many they are
	Do        string         `json:"do"`
	Command   string         `json:"command"` // to begin with, for a shell
}

// Key implements [Message].
func (a Alert) Key() string { return a.ID }

// Text implements [Message].
func (a Alert) Text() (title, body string) {
	if !a.Recovered.IsZero() {
		body = fmt.Sprintf("%s It was raised at %s and recovered at %s (workspace %s).", a.Meaning,
			a.Raised.UTC().Format(time.RFC3339), a.Recovered.UTC().Format(time.RFC3339), a.Workspace)
		if a.Off {
			body += " The policy switched it off: it may still hold."
		}
		if a.Archived {
			body += " The workspace was archived: it may still hold."
		}
		if a.Remains != "" {
			body += fmt.Sprintf(" The milder alert %s is still raised.", a.Remains)
		}
		return fmt.Sprintf("[recovered] %s", a.Alert), body
	}
	over := ""
	if a.Window != "" {
		over = " over " + a.Window
	}
	body = fmt.Sprintf("%s Since %s (workspace %s).\nFigure: %s is %s%s (threshold: %s)",
		a.Meaning, a.Since.UTC().Format(time.RFC3339), a.Workspace, a.Figure, a.Measured, over, a.Limit)
	if len(a.Agents) > 0 {
		body += fmt.Sprintf("\nAgents (%d): %s", a.Number, strings.Join(a.Agents, ", "))
	}
	if len(a.Senders) > 0 {
		body += "\nSenders: " + strings.Join(a.Senders, ", ")
	}
	if len(a.Handoffs) > 0 {
		body += "\nHandoffs: " + strings.Join(a.Handoffs, ", ")
	}
	if len(a.Tickets) > 0 {
		body += "\nTickets: " + strings.Join(a.Tickets, ", ")
	}
	return fmt.Sprintf("[%s] %s", a.Severity, a.Alert), body + "\n" + strings.ReplaceAll(a.Do, "`", "") + "\nBegin with: " + a.Command
}

func (a Alert) log(ctx context.Context, to *slog.Logger) {
	level, text := slog.LevelInfo, "an alert is raised"
	switch {
	case !a.Recovered.IsZero():
		text = "an alert has recovered"
	case a.Severity == alert.Critical:
		level = slog.LevelError
	case a.Severity == alert.Warning:
		level = slog.LevelWarn
	}
	to.Log(ctx, level, text, "alert", a.Alert, "severity", a.Severity, "workspace", a.Workspace, "meaning", a.Meaning, "figure", a.Figure, "value", a.Value,
		"threshold", a.Threshold, "window", a.Window, "since", a.Since, "handoffs", a.Handoffs, "tickets", a.Tickets, "senders", a.Senders, "agents", a.Agents, "number", a.Number, "do", a.Do, "command", a.Command)
}
