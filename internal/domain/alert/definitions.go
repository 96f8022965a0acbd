package alert

import "time"

// Instruments that alerts are about, by name. Package record/figure has them.
const (
	handoffsFailed = "trapeze.handoffs.failed"
	handoffsEnded  = "trapeze.handoffs.ended"
	completeness   = "trapeze.envelope.completeness"
	utilisation    = "trapeze.envelope.utilisation"
	fullness       = "trapeze.envelope.fullness"
)

// TicketAge is how long a ticket waits before ticket-old counts it. It is one of the ages of the figure's label, and long before the default time that people
// have is over, so that they can still answer.
const TicketAge = 8 * time.Hour

// behind begins what people do about alerts that name handoffs.
const behind = "`trapeze alerts show` names the handoffs behind it, and `trapeze handoff show` says how each ended. "

// apart is what is wrong in alerts with Apart.
const apart = " Of all, or of those of all senders but one agent."

// spread ends what is wrong in alerts with Spread.
const spread = " Of what goes wrong with the handoffs of one agent, no more counts than of all other senders together."

// spreadTo says what is no sender's doing, and the same of receivers.
const spreadTo = " What got no answer from receivers that answer nobody any more, and did in the week before, is no sender's. Nor does more count of those that one agent was to receive than of all other receivers."

// budget says what the token budget of an envelope is.
const budget = " The budget is the sender's or, if it gave none, half of the receiver's context window."

// Definitions lists every alert with its defaults, by subject. It is the only list: the rules for Prometheus, the documentation and the
// alerts of the server are made from it.
func Definitions() []Definition {
	return append(append(failures(), losses()...), waits()...)
}

// failures are about handoffs that fail.
func failures() []Definition {
	return []Definition{
		{
			Name: "handoff-failed", Severity: Info, Figure: handoffsFailed, Measure: Increase, Compare: Above, Subject: Workspace, Unit: Count,
			Threshold: 0, Highest: 1000, Window: 5 * time.Minute, command: showHandoff,
			meaning: "Handoffs of the last {window} used up all their receivers and retries: more than {threshold}.",
			todo:    behind + "If it is in the dead letters, replay or discard it.",
		},
		{
			Name: "handoff-failure-rate", Severity: Warning, Figure: handoffsFailed, Of: handoffsEnded, Measure: Share, Compare: Above, Subject: Workspace, Unit: Percent,
			Threshold: 0.005, Highest: 0.99, Window: time.Hour, Least: 2, Few: 20, Apart: true, command: showStats,
			meaning: "More than {threshold} of the handoffs of the last {window} failed: {least} or more, of {few} or more that ended." + apart,
			todo:    behind + "Look for what they have in common: `trapeze stats --by agent`, `--by kind`, `--by reason`.",
		},
		{
			Name: "handoffs-fail-systemically", Severity: Critical, Figure: handoffsFailed, Of: handoffsEnded, Measure: Share, Compare: Above, Subject: Workspace, Unit: Percent,
			Threshold: 0.02, Highest: 0.99, Window: time.Hour, Least: 3, Few: 20, Milder: "handoff-failure-rate", Apart: true, Spread: true, command: showStats,
			meaning: "More than {threshold} of the handoffs of the last {window} failed: {least} or more, of {few} or more that ended." + apart + spread + spreadTo,
			todo:    behind + "Start agents that are missing, or give those that fail a fallback in the policy.",
		},
		{
			Name: "agent-fails", Severity: Warning, Figure: "trapeze.agent.failures", Measure: Present, Compare: AtLeast, Subject: Agent, Unit: Count,
			Threshold: 3, Lowest: 1, Highest: 100, command: showAgent,
			meaning: "An agent failed {threshold} times in a row or more: a delivery or an offer that it had seen ended without an answer, or it lost a task by its silence; or it looked at none of as many offers, of a minute or more each, the last in the last day. Its rejections do not count. When it looks at an offer, those that it missed count no more; when it accepts an offer, those that failed before count no more; the tasks that it lost do, until it completes one that it did not make itself, gives it up or hands it on.",
			todo:    "See whether the agent runs: `trapeze agent show`. Take it off duty if it cannot work: `trapeze agent drain`.",
		},
		{
			Name: "agent-tasks-fail", Severity: Warning, Figure: "trapeze.agent.tasks.failed", Of: "trapeze.agent.tasks.ended", Measure: Share, Compare: Above, Subject: Agent, Unit: Percent,
			Threshold: 0.4, Highest: 0.99, Window: 3 * time.Hour, Least: 3, command: showAgent,
			meaning: "More than {threshold} of the tasks of others that an agent ended in the last {window} failed, or it lost them by its silence: {least} or more. Tasks that it completed or handed on did not fail. At most its last 100 count.",
			todo:    behind + "Look for what they have in common: if they are of one sender, its tasks may be at fault. Repair the agent, then `trapeze agent reset`, or take it off duty: `trapeze agent drain`.",
		},
		{
			Name: "circuit-open", Severity: Critical, Figure: "trapeze.circuits", Only: `state!="closed"`, Measure: Present, Compare: Above, Subject: Agent, Unit: Count,
			command: showAgent,
			meaning: "A circuit of an agent is open: it gets no offers, or none of one sender. When it is half-open, it gets one: the probe. After a probe that it accepts it gets offers again, and stays half-open until it completes a task that it did not make itself, gives one up or hands one on.",
			todo:    "`trapeze agent show` says whose offers it gets no more. If those are one sender's, see how much time its tasks allow for an answer. Repair the agent; the first task that it ends after a probe closes the circuit, or `trapeze agent reset`.",
		},
		{
			Name: "hops-rise", Severity: Warning, Figure: "trapeze.task.hops", Measure: Rise, Compare: Above, Subject: Workspace, Unit: Percent,
			Threshold: 1.5, Lowest: 1, Highest: 100, Window: time.Hour, For: 15 * time.Minute, Few: 2, Least: 5, command: showPath,
			meaning: "The tasks that ended in the last {window}, {least} or more, made more than {threshold} of the hops of the day, on average, and {few} or more.",
			todo:    "`trapeze alerts show` names the handoffs of tasks with most hops, and `trapeze task show` has the path of each: agents may pass work round. Tighten the rules of the policy, or the hop limit.",
		},
	}
}

// losses are about what is lost on the way, and about the record.
func losses() []Definition {
	return []Definition{
		{
			Name: "context-incomplete", Severity: Warning, Figure: completeness, Measure: Average, Compare: Below, Subject: Workspace, Unit: Percent,
			Threshold: 0.95, Lowest: 0.01, Highest: 1, Window: time.Hour, Few: 5, Least: 2, Apart: true, command: showDrift,
			meaning: "On average, less than {threshold} of the references of an envelope could be resolved, in {few} or more packed envelopes of the last {window}, of which {least} or more lack some." + apart,
			todo:    "`trapeze drift` shows what a task lost on its way; `trapeze envelope show` has the gaps.",
		},
		{
			Name: "context-lost", Severity: Critical, Figure: completeness, Measure: Average, Compare: Below, Subject: Workspace, Unit: Percent,
			Threshold: 0.8, Lowest: 0.01, Highest: 1, Window: time.Hour, Few: 20, Least: 3, Milder: "context-incomplete", Apart: true, Spread: true, command: showDrift,
			meaning: "On average, less than {threshold} of the references of an envelope could be resolved, in {few} or more packed envelopes of the last {window}, of which {least} or more lack some." + apart + spread,
			todo:    "See which memory items and files are missing, with `trapeze envelope show`, before more work is based on it.",
		},
		{
			Name: "budgets-unused", Severity: Warning, Figure: utilisation, Measure: Average, Compare: Below, Subject: Workspace, Unit: Percent,
			Threshold: 0.05, Highest: 0.99, Window: time.Hour, For: time.Hour, Few: 5, command: showDrift,
			meaning: "On average, an envelope with a token budget uses less than {threshold} of it, in {few} or more of the last {window}." + budget,
			todo:    "Compare with `trapeze envelope show`: senders may pass too little on, or receivers state windows that are too large. If large windows and short envelopes are as they should be, lower the threshold in the policy or switch the alert off.",
		},
		{
			Name: "budgets-full", Severity: Warning, Figure: fullness, Measure: Average, Compare: Above, Subject: Workspace, Unit: Percent,
			Threshold: 0.99, Lowest: 0.01, Highest: 0.999, Window: time.Hour, For: time.Hour, Few: 5, command: showDrift,
			meaning: "On average, an envelope with a token budget uses more than {threshold} of it, in {few} or more of the last {window}. One that had no room for a part uses all of it." + budget,
			todo:    "Give receivers a larger token budget, or pin what matters, so that it is kept.",
		},
		{
			Name: "audit-incomplete", Severity: Critical, Figure: "trapeze.audit.coverage", Measure: Present, Compare: Below, Subject: Workspace, Unit: Percent,
			Threshold: 1, Lowest: 1, Highest: 1, command: exportAudit,
			meaning: "The record lacks a part of the handshake of a task that moved.",
			todo:    "Keep the data directory as it is, restore the last backup beside it with `trapeze restore`, and compare: `trapeze audit export --skip-damaged` lists what cannot be read.",
		},
		{
			Name: "record-differs", Severity: Critical, Figure: "trapeze.record.integrity", Measure: Present, Compare: Below, Subject: Server, Unit: Percent,
			Threshold: 1, Lowest: 1, Highest: 1, command: diagnose,
			meaning: "The record does not agree with its Merkle tree: an entry or the tree was changed, or entries are missing.",
			todo:    "Stop the server with `trapeze stop`, and keep the data directory as it is. `trapeze verify` on a copy names what was changed; `trapeze restore` makes a new directory of the last backup that verifies.",
		},
		{
			Name: "witness-refuses", Severity: Critical, Figure: "trapeze.record.witnessed", Measure: Present, Compare: Below, Subject: Server, Unit: Percent,
			Threshold: 1, Lowest: 1, Highest: 1, command: diagnose,
			meaning: "A witness does not cosign the record: it has cosigned a longer one, or another history of it.",
			todo:    "Keep the data directory as it is. The log of the server names the witness and the position. If an older backup was restored on purpose, set up the witness again with another key; if not, restore the last backup that the witness cosigns.",
		},
		{
			Name: "views-disagree", Severity: Critical, Figure: "trapeze.view.consistency", Measure: Present, Compare: Below, Subject: Workspace, Unit: Percent,
			Threshold: 1, Lowest: 1, Highest: 1, For: time.Minute, Yields: "record-differs", command: diagnose,
			meaning: "The views do not agree with the ledger, which agrees with its Merkle tree.",
			todo:    "If `record-differs` is raised, too, do what that says, and not this. Otherwise stop the server and start it with `trapeze serve --rebuild-views`: it builds the views again from the ledger. If the alert comes back, report it with the log.",
		},
	}
}

// waits are about what waits.
func waits() []Definition {
	return []Definition{
		{
			Name: "dead-letters", Severity: Warning, Figure: "trapeze.dead_letters", Measure: Present, Compare: Above, Subject: Workspace, Unit: Count,
			Threshold: 0, Highest: 1e6, For: 5 * time.Minute, command: listDeadLetters,
			meaning: "Tasks are in the dead letters: more than {threshold}.",
			todo:    "`trapeze dead list` says why; replay each, or discard it.",
		},
		{
			Name: "inbox-old", Severity: Warning, Figure: "trapeze.inbox.age", Measure: Present, Compare: Above, Subject: Agent, Unit: Seconds,
			Threshold: 3600, Lowest: 1, Highest: 365 * 86400, command: showInbox,
			meaning: "Something has waited in the inbox of an agent for more than {threshold}.",
			todo:    "See whether the agent runs and fetches its inbox: `trapeze agent show`, `trapeze inbox --of`.",
		},
		{
			Name: "ticket-old", Severity: Warning, Figure: "trapeze.tickets.open", Only: `age=~"24h|older"`, Measure: Present, Compare: Above, Subject: Workspace, Unit: Count,
			Threshold: 0, Highest: 1e6, command: listTickets,
			meaning: "Tickets have waited for people for more than 8 hours: more than {threshold}. With the default times they end without an answer after 24 hours.",
			todo:    "`trapeze ticket list` shows them; answer each, approve or deny.",
		},
		{
			Name: "certificate-old", Severity: Critical, Figure: "trapeze.certificate.current", Measure: Present, Compare: Below, Subject: Server, Unit: Percent,
			Threshold: 1, Lowest: 1, Highest: 1, command: diagnose,
			meaning: "The certificate of the server was not renewed: less than a tenth of its time is left, or the files of the new one cannot be used.",
			todo:    "The log of the server says what is wrong with the files of `--tls-cert`, `--tls-key` and `--tls-client-ca`. Calls go on with the old certificate until it expires; repaired files are used without a restart.",
		},
		{
			Name: "views-lag", Severity: Warning, Figure: "trapeze.view.lag", Measure: Present, Compare: Above, Subject: Server, Unit: Count,
			Threshold: 1000, Lowest: 1, Highest: 1e9, For: 5 * time.Minute, command: diagnose,
			meaning: "The views are more than {threshold} entries behind the ledger: lists are stale.",
			todo:    "See the log of the server: it says why the views are repaired.",
		},
		{
			Name: "figures-lag", Severity: Warning, Figure: "trapeze.figures.lag", Measure: Present, Compare: Above, Subject: Server, Unit: Count,
			Threshold: 1000, Lowest: 1, Highest: 1e9, For: 10 * time.Minute, command: diagnose,
			meaning: "The figures are more than {threshold} entries behind the ledger: other alerts may be late.",
			todo:    "After a start, wait until they are counted. Otherwise see the log of the server.",
		},
	}
}
