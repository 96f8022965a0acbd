// Package alert holds the rules of alerts: which there are, when one is raised, when it recovers, and how people silence it. The alerts
// of a workspace are one stream (alert/current); its [State] is the fold of its events.
//
// It never reads a clock and measures nothing: what holds is an input of [Judge].
//
// Invariants:
//   - Every alert is one of [Definitions], from which the rules for Prometheus and the page of the documentation are made, too.
//   - [Decide] may refuse and changes nothing. [Fold] never refuses. A State is immutable and may be shared.
//   - An alert that is raised is not raised again before it has recovered, by any number of servers that judge.
//   - A raised alert stays raised for the time [Least] or longer. No more than [MaxAgents] agents have an alert of the same name. So the number of
//     alerts, and of their events in a time, is bounded, however many agents fail.
//   - Operators silence alerts, for a time, with a reason; agents do not.
//
// Where to change what:
//   - definitions.go: every alert with its threshold, window and advice; a policy can change them within the bounds of change.go
//     and policy/alerts.go. Of certificate-old, record-differs and witness-refuses the figure is 0 or 1: what makes it 0 is decided in
//     server/certificate/certificate.go, record/proof/treefile/finding.go and delivery/cosigner/cosigner.go; of views-disagree it is a
//     share, which delivery/monitor/consistency.go measures
//   - decide.go: when an alert is raised and when it recovers, how long it stays raised at least, the bounds of silences
//   - milder.go: when a severe alert hides the mild one of the same figure
//   - state.go: how many agents, handoffs, silences and past alerts are kept
//   - command.go: the command that an alert tells people to run first
//   - definition.go: severities, units, and how a value is taken from a figure and compared; event.go: the events of alerts
//   - id.go: the ids of alerts in URLs and commands
//   - named.go: which agents have an alert of their own where many would
//   - Figures are measured in delivery/monitor/measure.go and record/figure/condition.go; people are notified by
//     delivery/alerting/notify.go.
//
// Start reading at [Definitions], then [Decide].
package alert
