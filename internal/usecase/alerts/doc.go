// Package alerts has the use cases of alerts: what is raised, what people silenced, and what the server itself finds.
//
// Invariants:
//   - A caller sees the alerts of its own workspace, and only if it may read anything there. Operators silence; agents do not.
//   - The rules in domain/alert decide, on the one stream of the workspace, so that several servers raise an alert once.
//   - Nothing is measured here: that is in delivery/monitor, and delivery/alerting brings both together.
//
// Where to change what:
//   - read.go: who sees alerts, and how long a call may wait; silence.go, end_silence.go: who silences
//   - judge.go: the entry of what was judged; the rules are in alert/decide.go, how often they are applied in
//     alerting/alerting.go
//   - alerts.go: what a policy changes of the definitions
//   - last.go: the newest values of alerts, which are not recorded
//
// Start reading at [Alerts.Judge], then [Alerts.List].
package alerts
