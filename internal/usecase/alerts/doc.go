// Package alerts is the use cases of alerts: what is raised, what people silenced, and what the server itself finds.
//
// Invariants:
//   - A caller sees the alerts of its own workspace, and only if it may read anything there. Operators silence; agents do not.
//   - The rules in domain/alert decide, on the one stream of the workspace, so that several servers raise an alert once.
//   - Nothing is measured here: that is in delivery/monitor, and delivery/alerting brings both together.
//
// Start reading at [Alerts.Judge], then [Alerts.List].
package alerts
