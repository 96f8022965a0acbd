package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/figure"
)

const alertsHead = `# Alerts

<!-- Written by go generate ./internal/record/figure. Do not edit. -->

The server raises an alert when a [figure](metrics.md) is beyond its threshold. It judges a few seconds after something happens, and every 15
seconds, in each workspace. An alert names the figure and the threshold, the value when it was raised and now, since when it
holds, up to five handoffs and tickets behind it, and what to do about it.

    trapeze alerts list
    trapeze alerts show circuit-open:coder

## What is recorded
Alerts are events in the record: raised, recovered, silenced, silence ended. So they are the same after a restart, and several servers on
one record raise an alert once. An alert is raised for at least five minutes, so a figure that goes to and fro gives one alert in that time. At most
20 agents have an alert of the same name; all others have one together, which is shown as ` + "`(others)`" + `, has the id ` + "`NAME:.others`" + `, says how many agents it is about and names
50 of them. An agent that makes many others wait or fail hides none of them: those whose handoffs, questions or shares are behind an alert take turns, each with at most 10 of the 20. The
inbox of the operators always has its own.

What one agent sends calls nobody at once: of what goes wrong with the handoffs of one agent, the critical alerts ` + "`handoffs-fail-systemically` and `context-lost`" + ` count no more than
of all other senders together, people and programs included. The milder ` + "`handoff-failure-rate` and `context-incomplete`" + ` count all of it. All of them name up to five senders, those
with most of it first. Nor do the many successes of one agent hide what goes wrong with what all others send: each of the four is raised, too, if what all senders but one agent sent is beyond
the threshold; its value is of those then. People and programs, whose tokens operators make, may raise the critical ones alone, and count in full. The parts of a fan-out and what an agent delegates are sent by the owner of the task then, and the handoff that
replaces a lost owner by the requester. It does not help to have others hand a task on, or delegate it: what it lost once is lost at each
hop after that and in its children, and counts as the first sender's; a memory item that is forgotten counts as lost by the one that forgot it, however many hand it on; an offer that had less time than by default and got no answer counts as whose it was to allow no more: the requester's of the task, or the sender's of the handoff or the parts, if that allowed less (not if it had a minute or more, twice as long as
its receiver took for any answer in the week before, and that has answered five or more). What receivers do counts as no sender's, so that the outage of all receivers
of one orchestrator is critical: a handoff that got no answer is the receiver's doing if that has accepted or rejected an offer in the week before, and none, of anybody, since the offer was made. If it still
answers others, or has never answered, it counts as the sender's; so do all rejections. What receivers accepted and then lost opens their circuits. Nor does one receiver that rejects
everything, or is down, make ` + "`handoffs-fail-systemically`" + `: of the handoffs to one agent, no more count than of those to all others; ` + "`agent-fails` and `circuit-open`" + ` are about
that agent, and name the senders whose handoffs failed at it: if it is one, its tasks may allow too little time.
What an agent makes of the tasks that it accepts is what ` + "`agent-tasks-fail`" + ` is about, which names their senders, too. ` + "`hops-rise`" + ` is a warning, and names the requesters
of the tasks with most hops.

In an archived [workspace](workspaces.md) nothing is raised. What is raised there ends with the archiving, as recovered, with the reason (` + "`archived`" + `).

Two pairs of alerts are about one figure with two thresholds: ` + "`handoff-failure-rate`" + ` and ` + "`handoffs-fail-systemically`" + `, ` + "`context-incomplete`" + ` and
` + "`context-lost`" + `. The milder one is contained in the severer while both are raised (` + "`within`" + `): if both are raised together, people are notified of the severer one alone. The notice of its
recovery says if the milder one is still raised (` + "`remains`" + `), and its end is notified too. What was mild and gets worse is notified again.

## Silences
An operator can silence an alert for a time, with a reason. It is raised, recorded and listed as before, but nobody is notified,
nor of its recovery; only when a milder alert remains that nobody silenced, its notice is sent. The silence ends by itself, or before with ` + "`trapeze alerts end-silence`" + `; then people are notified of
the alerts that are still raised. They are also notified, once, that an alert that they had been notified of recovered during the silence, unless it is raised again by then.

    trapeze alerts silence circuit-open:coder --for 2h --why 'is being repaired'

## Who is notified
` + "`trapeze serve --alert SINK`" + ` notifies people when an alert is raised and when it has recovered; repeat it for more sinks. A sink is

- ` + "`log`" + `: the log of the server;
- ` + "`webhook:URL`" + `: a POST of the alert as JSON, with its id as ` + "`Idempotency-Key`" + `;
- ` + "`exec:PROGRAM`" + `: a program, which gets the alert as JSON on its standard input;
- ` + "`file:PATH`" + `: a file with one sink in each line. Only there a sink may also be the URL of a service, as
  [shoutrrr](https://shoutrrr.nickfedor.com) writes it: Slack, Teams, Discord, e-mail, PagerDuty, Opsgenie, ntfy and more.

Such URLs hold secrets: the file must be one that only its owner can read, and the server shows them nowhere. With a severity before it, a sink gets alerts
that are at least as severe:

    # alerts.txt, chmod 600; trapeze serve --alert log --alert file:alerts.txt
    warning=slack://hook:TOKEN@webhook
    critical=pagerduty://events.pagerduty.com/KEY
    critical=smtp://USER:PASSWORD@mail.example.org:587/?from=trapeze@example.org&to=team@example.org

A message is sent at least once, and tried for about three minutes.

## Other thresholds
A [policy](policy.md) changes thresholds, windows and how long an alert must hold, or switches alerts off. One that is raised then ends at once, as recovered, with the reason (` + "`off`" + `):

    alerts:
      handoff-failure-rate: {threshold: 0.01, window: 2h}
      inbox-old: {threshold: 7200}
      budgets-unused: off

## Thresholds and default times
Each alert can be raised with the default settings, before the time that people or agents have is over:

- ` + "`ticket-old`" + `: people have 24 hours by default, for an answer and for an approval. The alert counts tickets from 8 hours on, a working day, so that 16 hours are left.
- ` + "`inbox-old`" + `: what waits for an hour is a task that came back, a question, an approval or a takeover, which have 24 hours, and offers with a longer time than the default.
  An offer that nobody sees ends after 10 minutes by default; if there is no other receiver then, ` + "`handoff-failed`" + ` and ` + "`dead-letters`" + ` are raised.
- ` + "`dead-letters`" + ` and all that is about a figure: nothing ends them but people, or the window.

## Prometheus
[prometheus/rules.yaml](prometheus/rules.yaml) has the same alerts as rules for Prometheus, with the default thresholds, and
[prometheus/dashboard.json](prometheus/dashboard.json) is a dashboard for Grafana. Add the file to ` + "`rule_files`" + `, with a scrape interval of a
minute or less, and import the dashboard. Prometheus' Alertmanager groups, silences and sends its alerts by itself. It has one alert for all
open circuits of a workspace, and the server has one for each agent.

## All alerts
`

// alerts is the page of the alerts.
func alerts() string {
	var b strings.Builder
	b.WriteString(alertsHead)
	for _, a := range figure.Alerts() {
		d := &a.Definition
		fmt.Fprintf(&b, "\n### %s\n\n%s%s\n\n%s\n\n", d.Name, d.Meaning(), lasting(d.For), d.Do())
		b.WriteString("| severity | figure | of | threshold | a policy may set | window | for | in Prometheus |\n|---|---|---|---|---|---|---|---|\n")
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s %s | %s | %s | %s | `%s` |\n", d.Severity, d.Figure, d.Subject, d.Compare, plain(d.Threshold), bounds(d), orNone(d.Window), changeable(d), d.Prometheus())
	}
	return b.String()
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// bounds are the thresholds that a policy may set.
func bounds(d *alert.Definition) string {
	if d.Fixed() {
		return "off"
	}
	return plain(d.Lowest) + " to " + plain(d.Highest) + ", or off"
}

func orNone(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return event.Duration(d).String()
}

func changeable(d *alert.Definition) string {
	if !d.Lasting() {
		return "-"
	}
	return event.Duration(d.For).String()
}

// lasting says how long a state must hold.
func lasting(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf(" It must last %g minutes.", d.Minutes())
}
