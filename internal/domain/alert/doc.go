// Package alert holds the rules of alerts: which there are, when one is raised, when it recovers, and how people silence it. The alerts
// of a workspace are one stream (alert/current); its [State] is the fold of its events.
//
// It never reads a clock and measures nothing: what holds is an input of [Judge].
//
// Invariants:
//   - Every alert is one of [Definitions], from which the rules for Prometheus and the page of the documentation are made, too.
//   - [Decide] may refuse and changes nothing. [Fold] never refuses. A State is immutable and may be shared.
//   - An alert that is raised is not raised again before it has recovered, by any number of servers that judge.
//   - An alert is raised for at least [Least], and at most [MaxAgents] agents have one of the same name: so the number of alerts, and
//     of their events in a time, is bounded, however many agents fail.
//   - Operators silence alerts, for a time, with a reason; agents do not.
//
// Start reading at [Definitions], then [Decide].
package alert
