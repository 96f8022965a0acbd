package figure

import (
	"fmt"
	"time"
)

// Severity is how soon people should look at an alert. The set is closed.
type Severity string

// The severities.
const (
	Info     Severity = "info"     // worth a look
	Warning  Severity = "warning"  // look today
	Critical Severity = "critical" // look now
)

// Alert is a state of the figures that people should know of. It is raised for each workspace, or agent, by itself.
type Alert struct {
	Name     string
	Severity Severity
	Meaning  string        // one sentence, which begins with what is wrong
	Do       string        // what people do about it
	Expr     string        // in Prometheus' language: not empty while the alert is raised
	For      time.Duration // it must hold so long; 0: once
}

// Thresholds of the alerts.
const (
	failureRateHigh     = 0.005 // of handoffs that ended
	failureRateSystemic = 0.02
	leastEnded          = 20 // handoffs, for a rate to mean anything
	completenessLow     = 0.95
	completenessBad     = 0.8
	attemptsInARow      = 3
	utilisationLow      = 0.05
	utilisationFull     = 0.99
	hopsRising          = 1.5 // times the average of the day
	hopsLeast           = 2   // hops on average, below which none is rising
	inboxAge            = time.Hour
)

// increase is what a counter gained in a time, by workspace, also if its first point is younger: it was 0 before.
func increase(i *Instrument, window string) string {
	return fmt.Sprintf("(sum by (workspace) (%[1]s) - (sum by (workspace) (%[1]s offset %[2]s) or sum by (workspace) (%[1]s) * 0))", i.Prometheus(), window)
}

// average is the average of a histogram over a time, by workspace.
func average(i *Instrument, window string) string {
	return fmt.Sprintf("(sum by (workspace) (rate(%[1]s_sum[%[2]s])) / sum by (workspace) (rate(%[1]s_count[%[2]s])))", i.Prometheus(), window)
}

// failureRate is the share of failed handoffs among those that ended in the last hour, if they were not too few.
func failureRate() string {
	ended := increase(HandoffsEnded, "1h")
	return fmt.Sprintf("%s / (%s >= %d)", increase(HandoffsFailed, "1h"), ended, leastEnded)
}

// Alerts lists every alert, by subject.
func Alerts() []Alert {
	return append(handoffAlerts(), serverAlerts()...)
}

// handoffAlerts are about handoffs and what goes with them.
func handoffAlerts() []Alert {
	const behind = "`trapeze stats` names the handoffs behind it, and `trapeze handoff show` says how each ended. "
	return []Alert{
		{
			Name: "TrapezeHandoffFailed", Severity: Info, Meaning: "A handoff used up all its receivers and retries.",
			Do: behind + "If it is in the dead letters, replay or discard it.", Expr: increase(HandoffsFailed, "5m") + " > 0",
		},
		{
			Name: "TrapezeHandoffFailureRate", Severity: Warning, Meaning: "More than 0.5 % of the handoffs of the last hour failed.",
			Do: behind + "Look for what they have in common: `trapeze stats --by agent`, `--by kind`, `--by reason`.", Expr: fmt.Sprintf("%s > %g", failureRate(), failureRateHigh),
		},
		{
			Name: "TrapezeHandoffsFailSystemically", Severity: Critical, Meaning: "More than 2 % of the handoffs of the last hour failed.",
			Do: behind + "Start agents that are missing, or give those that fail a fallback in the policy.", Expr: fmt.Sprintf("%s > %g", failureRate(), failureRateSystemic),
		},
		{
			Name: "TrapezeAgentFails", Severity: Warning, Meaning: "Three attempts in a row to hand a task to one agent failed.",
			Do: "See whether the agent runs: `trapeze agent show`. Take it off duty if it cannot work: `trapeze agent drain`.", Expr: fmt.Sprintf("%s >= %d", AgentFailures.Prometheus(), attemptsInARow),
		},
		{
			Name: "TrapezeCircuitOpen", Severity: Critical, Meaning: "The circuit of an agent is open: it gets no offers.",
			Do: "`trapeze agent list` shows which. Repair the agent; a probe closes the circuit, or `trapeze agent reset`.", Expr: fmt.Sprintf("sum by (workspace) (%s{state!=\"closed\"}) > 0", Circuits.Prometheus()),
		},
		{
			Name: "TrapezeContextIncomplete", Severity: Warning, Meaning: "Less than 95 % of the references in the envelopes of the last hour could be resolved.",
			Do: "`trapeze drift` shows what a task lost on its way; `trapeze envelope show` has the gaps.", Expr: fmt.Sprintf("%s < %g", average(EnvelopeCompleteness, "1h"), completenessLow),
		},
		{
			Name: "TrapezeContextLost", Severity: Critical, Meaning: "Less than 80 % of the references in the envelopes of the last hour could be resolved.",
			Do: "See which memory items and files are missing, with `trapeze envelope show`, before more work is based on it.", Expr: fmt.Sprintf("%s < %g", average(EnvelopeCompleteness, "1h"), completenessBad),
		},
		{
			Name: "TrapezeHopsRise", Severity: Warning, Meaning: "Tasks make half as many hops again as on the average of the day.",
			Do:   "Look at the routes of tasks with many hops: agents may pass work round. Tighten the rules of the policy, or the hop limit.",
			Expr: fmt.Sprintf("%s > %g * %s and %s >= %d", average(TaskHops, "1h"), hopsRising, average(TaskHops, "1d"), average(TaskHops, "1h"), hopsLeast), For: 15 * time.Minute,
		},
		{
			Name: "TrapezeBudgetsUnused", Severity: Warning, Meaning: "Envelopes use less than 5 % of their token budgets, for an hour.",
			Do: "Senders may pass too little on, or receivers state windows that are too large. Compare with `trapeze envelope show`.", Expr: fmt.Sprintf("%s < %g", average(EnvelopeUtilisation, "1h"), utilisationLow), For: time.Hour,
		},
		{
			Name: "TrapezeBudgetsFull", Severity: Warning, Meaning: "Envelopes use their whole token budgets, for an hour: parts are left out.",
			Do: "Give receivers a larger token budget, or pin what matters, so that it is kept.", Expr: fmt.Sprintf("%s > %g", average(EnvelopeUtilisation, "1h"), utilisationFull), For: time.Hour,
		},
		{
			Name: "TrapezeDeadLetters", Severity: Warning, Meaning: "Tasks are in the dead-letter queue.",
			Do: "`trapeze dead list` says why; replay each, or discard it.", Expr: DeadLetters.Prometheus() + " > 0", For: 5 * time.Minute,
		},
		{
			Name: "TrapezeInboxOld", Severity: Warning, Meaning: "Something has waited in the inbox of an agent for more than an hour.",
			Do: "See whether the agent runs and fetches its inbox: `trapeze agent show`, `trapeze inbox --agent`.", Expr: fmt.Sprintf("%s > %g", InboxAge.Prometheus(), inboxAge.Seconds()),
		},
		{
			Name: "TrapezeTicketOld", Severity: Warning, Meaning: "A ticket has waited for people for more than a day.",
			Do: "`trapeze ticket list` shows it; answer it, approve or deny.", Expr: fmt.Sprintf("sum by (workspace) (%s{age=\"older\"}) > 0", TicketsOpen.Prometheus()),
		},
	}
}

// serverAlerts are about the record and the server.
func serverAlerts() []Alert {
	return []Alert{
		{
			Name: "TrapezeAuditIncomplete", Severity: Critical, Meaning: "The record lacks a part of the handshake of a task that moved.",
			Do: "Keep the data directory as it is, restore the last backup beside it, and compare: `trapeze audit export`.", Expr: AuditCoverage.Prometheus() + " < 1",
		},
		{
			Name: "TrapezeViewsDisagree", Severity: Critical, Meaning: "The views do not agree with the ledger, which is right.",
			Do: "Restart the server; if it stays, stop it and report it with the log: the views can be built again from the ledger.", Expr: ViewConsistency.Prometheus() + " < 1", For: time.Minute,
		},
		{
			Name: "TrapezeViewsLag", Severity: Warning, Meaning: "The views are more than 1,000 entries behind the ledger: lists are stale.",
			Do: "See the log of the server: it says why the views are repaired.", Expr: ViewLag.Prometheus() + " > 1000", For: 5 * time.Minute,
		},
		{
			Name: "TrapezeFiguresLag", Severity: Warning, Meaning: "The figures are more than 1,000 entries behind the ledger: other alerts may be late.",
			Do: "After a start, wait until they are counted. Otherwise see the log of the server.", Expr: FigureLag.Prometheus() + " > 1000", For: 10 * time.Minute,
		},
	}
}
