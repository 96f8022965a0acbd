package alert

import (
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// command writes a command for an agent, which may be empty or [Other], and the handoffs behind an alert.
type command func(agent string, handoffs []string) string

// Command returns the command to begin with, ready to paste into a shell.
func (d *Definition) Command(agent string, handoffs []string) string {
	if agent == Other {
		agent = ""
	}
	return d.command(agent, handoffs)
}

func showHandoff(_ string, handoffs []string) string {
	if len(handoffs) == 0 {
		return "trapeze stats --span 24h"
	}
	return shellword.Command("trapeze handoff show", handoffs[0])
}

func showStats(string, []string) string { return "trapeze stats --span 24h --by agent" }

func showAgent(agent string, _ []string) string {
	if agent == "" {
		return "trapeze agent list"
	}
	return shellword.Command("trapeze agent show", agent)
}

func showPath(_ string, handoffs []string) string {
	if len(handoffs) == 0 {
		return "trapeze stats --span 24h"
	}
	task, _, _ := strings.Cut(handoffs[0], ".")
	return shellword.Command("trapeze task show", task)
}

func showDrift(_ string, handoffs []string) string {
	if len(handoffs) == 0 {
		return "trapeze stats"
	}
	task, _, _ := strings.Cut(handoffs[0], ".")
	return shellword.Command("trapeze drift", task)
}

func exportAudit(string, []string) string {
	return "trapeze audit export --skip-damaged -o record.jsonl"
}

func diagnose(string, []string) string { return "trapeze doctor" }

func listDeadLetters(string, []string) string { return "trapeze dead list" }

func showInbox(agent string, _ []string) string {
	if agent == "" {
		return "trapeze inbox"
	}
	return "trapeze inbox --of " + shellword.Quote(agent)
}

func listTickets(string, []string) string { return "trapeze ticket list" }
